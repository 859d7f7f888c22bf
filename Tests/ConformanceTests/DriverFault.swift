/// Every fault of a session that the suite must find.
enum DriverFault: CaseIterable, Sendable {
    // History.
    case repeatsRecords, includesTheEnd, ignoresTheLimit, repeatsThePage, descends, losesRecords, answersEmptyRanges
    case countsGoodRecords
    case forgetsTooMuch, keepsAcknowledgements
    // Summaries.
    case losesDays, changesDays
    // Operations beyond the device's abilities.
    case readsWhatItCannot, summarisesWhatItCannot, showsWhatItCannot, setsWhatItCannot, measuresWhatItCannot
    // Clock and monitoring.
    case ignoresTheClock, addsTheOffset
    case ignoresConfigurations, forgetsOtherParts, takesNonsense, keepsNonsense
    // Measurements.
    case acceptsTwoMeasurements, queuesMeasurements, neverEndsMeasurements, completesStoppedMeasurements,
        breaksOffMeasurements
    case measuresNothing, measuresNonsense, measuresAnother, speaksAfterTheEnd, endsTwice, refusesLateStops
    // Events and receipts.
    case swallowsEvents, reordersEvents, neverEnds, endsWrongly, answersAfterTheEnd, listensForEver
    case losesReceipts, losesSomeReceipts, answersBeforeTheCommit, keepsCommits, hidesRefusals
    // Overlapping, cancelled and interrupted calls, and the graceful disconnect.
    case mixesAnswers, breaksWhenCancelled, changesWhenCancelled, answersInSilence, ignoresCancellation
    case failsWhenInterrupted
    case staysAtDisconnect, leavesWithoutDisconnect

    /// The text of the violation.
    var violation: String {
        switch self {
        case .repeatsRecords: "history: heart_rate, pages of 2000, the first time: records come twice"
        case .includesTheEnd: "1 that are not the device's"
        case .ignoresTheLimit: "a page of 1 has 30 records"
        case .repeatsThePage: "comes again and again"
        case .descends: "do not ascend"
        case .losesRecords: "1 missing"
        case .answersEmptyRanges: "a range without records gives 1 of them"
        case .countsGoodRecords: "1 good records count as malformed"
        case .forgetsTooMuch: "29 missing"
        case .keepsAcknowledgements: "acknowledgement: the device did not receive the acknowledgement of heart_rate"
        case .losesDays: "summaries: sleep, 2026-01-01 to 2026-01-03: the days are"
        case .changesDays: "sleep, 2026-01-02 to 2026-01-02: the summary of 2026-01-02 is"
        case .readsWhatItCannot: "history of stress succeeded; it should throw unsupported"
        case .summarisesWhatItCannot: "summaries of stress succeeded; it should throw unsupported"
        case .showsWhatItCannot: "reading the monitoring of stress succeeded; it should throw unsupported"
        case .setsWhatItCannot: "setting the monitoring of stress succeeded; it should throw unsupported"
        case .measuresWhatItCannot: "measuring stress succeeded; it should throw unsupported"
        case .ignoresTheClock, .addsTheOffset: "the device did not receive the time and its offset from UTC"
        case .ignoresConfigurations, .forgetsOtherParts: "is read instead of"
        case .takesNonsense: "succeeded; it should throw invalid"
        case .keepsNonsense: "monitoring: heart_rate: after refusing"
        case .acceptsTwoMeasurements: "a second measurement succeeded; it should throw busy"
        case .queuesMeasurements: "starting a measurement of heart_rate did not end within"
        case .neverEndsMeasurements: "the measurement of heart_rate did not end within"
        case .completesStoppedMeasurements: "a stopped measurement says that it was completed"
        case .breaksOffMeasurements: "the measurement was not completed"
        case .measuresNothing: "the measurement gave no samples"
        case .measuresNonsense: "the measurement gave a sample that cannot be"
        case .measuresAnother: "the measurement gave samples of another metric"
        case .speaksAfterTheEnd: "gave a sample after its end"
        case .endsTwice: "ended twice"
        case .refusesLateStops: "stopping a measurement that has ended threw"
        case .swallowsEvents: "waiting for wear(isWorn: true) did not end"
        case .reordersEvents: "waiting for battery(percent: 50.0, isCharging: Optional(false)) did not end"
        case .neverEnds: "the end of the events did not end"
        case .endsWrongly: "they should end with nil or disconnected"
        case .answersAfterTheEnd: "reading history after the end of the link succeeded; it should throw disconnected"
        case .listensForEver: "waiting for events did not end when it was cancelled"
        case .losesReceipts: "a sample came without the receipt that its device waits for"
        case .losesSomeReceipts: "each of them, or none, should have one"
        case .answersBeforeTheCommit: "the device got a receipt for a sample that the gateway has not settled"
        case .keepsCommits: "the device did not receive the confirmation that a sample is durable"
        case .hidesRefusals: "the device received the confirmation that a refused sample is durable"
        case .mixesAnswers: "overlapping calls: heart_rate: 0 records instead of 30"
        case .breaksWhenCancelled: "cancellation: failed"
        case .changesWhenCancelled: "cancellation: after cancelled calls"
        case .answersInSilence: "silence: history succeeded although the device said nothing"
        case .ignoresCancellation: "silence: history did not end when it was cancelled"
        case .failsWhenInterrupted: "interruption: history threw failure when the link ended in its middle"
        case .staysAtDisconnect: "the graceful disconnect did not end"
        case .leavesWithoutDisconnect: "the device did not receive a graceful disconnect"
        }
    }
}
