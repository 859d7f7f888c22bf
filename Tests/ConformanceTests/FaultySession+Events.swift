import GatewayKit
import GatewayTesting
import Synchronization
import TestSupport
import Vitals

extension FaultySession {
    func nextEvents() async throws(DeviceError) -> [DeviceEvent]? {
        do {
            guard let events = try await session.nextEvents() else { return nil }
            if fault == .answersBeforeTheCommit {
                for case .samples(_, let receipts) in events where !receipts.isEmpty {
                    try await session.settle(receipts.map { SettledReceipt($0, .new) })
                }
            }
            return damaged(events)
        } catch {
            switch fault {
            // A session that does not report its end waits until it is cancelled.
            case .neverEnds: for await _ in AsyncStream<Never>.makeStream().stream {}
            case .endsWrongly: throw DeviceError(.failure, "It broke.")
            case .listensForEver where Task.isCancelled: await memory.waitForTheEnd()
            default: break
            }
            throw error
        }
    }

    private func damaged(_ events: [DeviceEvent]) -> [DeviceEvent] {
        switch fault {
        case .swallowsEvents: return events.filter { $0 != .wear(isWorn: true) }
        case .reordersEvents:
            // A wear event is held back and comes with the next events.
            return memory.state.withLock { state in
                let late = state.held
                state.held = events.filter { $0 == .wear(isWorn: true) }
                let rest = events.filter { $0 != .wear(isWorn: true) }
                if rest.isEmpty { return late }
                defer { state.held = [] }
                return rest + late + state.held
            }
        default: return events.flatMap(damaged)
        }
    }

    private func damaged(_ event: DeviceEvent) -> [DeviceEvent] {
        switch event {
        case .samples(let samples, let receipts) where !receipts.isEmpty:
            switch fault {
            case .losesReceipts: return [.samples(samples, receipts: [])]
            case .losesSomeReceipts: return [.samples(samples, receipts: receipts.dropLast())]
            default: return [event]
            }
        case .measurementSample(let id, var sample):
            switch fault {
            case .measuresNothing: return []
            case .measuresNonsense: sample.reading = .value(9_999)
            case .measuresAnother: sample.metric = .restingHeartRate
            default: break
            }
            return [.measurementSample(id, sample)]
        case .measurementEnded(let id, let completed, let error):
            memory.ended.append(id)
            switch fault {
            case .neverEndsMeasurements: return []
            case .completesStoppedMeasurements: return [.measurementEnded(id, completed: true, error: error)]
            case .breaksOffMeasurements:
                return [.measurementEnded(id, completed: false, error: completed ? DeviceError(.notWorn, "Off.") : nil)]
            case .endsTwice: return [event, event]
            case .speaksAfterTheEnd:
                let late = Sample(metric: .heartRate, start: Timestamp(seconds: 0), reading: .value(60))
                return [event, .measurementSample(id, late)]
            default: return [event]
            }
        default: return [event]
        }
    }

    func settle(_ receipts: [SettledReceipt]) async throws(DeviceError) {
        switch fault {
        case .keepsCommits: break
        case .hidesRefusals: try await session.settle(receipts.map { SettledReceipt($0.receipt, .new) })
        default: try await session.settle(receipts)
        }
    }

    func startMeasurement(of metric: Metric, duration: Duration) async throws(DeviceError) -> MeasurementID {
        if fault == .measuresWhatItCannot, !description.capabilities.supports(.measure, metric) {
            return MeasurementID("nothing")
        }
        do {
            return try await session.startMeasurement(of: metric, duration: duration)
        } catch {
            switch fault {
            case .acceptsTwoMeasurements where error.code == .busy: return MeasurementID("another")
            case .queuesMeasurements where error.code == .busy:
                let count = memory.ended.elements.count
                guard (try? await memory.ended.wait { $0.count > count }) != nil else { throw error }
                return try await session.startMeasurement(of: metric, duration: duration)
            default: throw error
            }
        }
    }

    func stopMeasurement(_ measurement: MeasurementID) async throws(DeviceError) {
        if fault == .refusesLateStops, memory.ended.elements.contains(measurement) {
            throw DeviceError(.invalid, "There is no such measurement.")
        }
        try await session.stopMeasurement(measurement)
    }
}
