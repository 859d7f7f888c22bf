import GatewayKit
import Synchronization
import Testing
import Vitals

/// The room of an inbox is memory: long sleeps take more of it than other samples.
@Suite(.timeLimit(.minutes(1))) struct EventInboxTests {
    static let longest: Sample = {
        let start = Timestamp(seconds: 1_795_219_200)
        let stages = (0..<SampleLimits.stages).map { index in
            Sleep.Stage(.light, from: start + .seconds(30 * index), to: start + .seconds(30 * index + 30))
        }
        return Sample(
            metric: .sleep, start: start, end: start + .days(1), reading: .sleep(Sleep(stages: stages)))
    }()

    @Test func `a sleep takes a place for every eight stages, and another sample one`() {
        #expect(Self.longest.weight == 361)
        #expect(Sample(metric: .sleep, start: Self.longest.start, reading: .sleep(Sleep(stages: []))).weight == 1)
        #expect(Sample(metric: .heartRate, start: Self.longest.start, reading: .value(60)).weight == 1)
    }

    @Test(arguments: [true, false])
    func `long sleeps hold the driver back after a dozen of them`(isMeasurement: Bool) async throws {
        let inbox = EventInbox()
        let event: DeviceEvent =
            isMeasurement
            ? .measurementSample(MeasurementID("1"), Self.longest) : .samples([Self.longest], receipts: [])
        let most = EventInbox.defaultCapacity / Self.longest.weight
        for _ in 0..<most { await inbox.send([event]) }
        let sent = Flag()
        async let sender: Void = send(event, to: inbox, then: sent)
        // Whenever the task has run by now, it must not have come through before something is taken.
        for _ in 0..<1_000 { await Task.yield() }
        #expect(!sent.isSet)
        var count = 0
        while let events = try await inbox.next() { count += events.count }
        await sender
        #expect(sent.isSet)
        #expect(count == most + 2)
    }

    private final class Flag: Sendable {
        private let value = Mutex(false)
        var isSet: Bool { value.withLock { $0 } }
        func set() { value.withLock { $0 = true } }
    }

    @concurrent
    private func send(_ event: DeviceEvent, to inbox: EventInbox, then sent: Flag) async {
        await inbox.send([event])
        sent.set()
        await inbox.send([.wear(isWorn: true)])
        inbox.finish()
    }
}
