import Concurrency
import Contract
import GatewayKit
import GatewayTesting
import JSON
import Logging
import MQTT
import Store
import TestSupport
import Testing
import Vitals

@testable import Delivery
@testable import Gateway

/// Answers that are not stored, because too many wait for the broker, find room among what is sent once, or are counted.
@Suite struct CommandRoomTests {
    private struct Rig: Sendable {
        let retained = RetainedStates(wakeup: Signal())
        let status = BrokerStatus()
        let log: CommandLog
        let clock: GatewayClock
        let scratch: ScratchStore
        private let device: DeviceID
        private let sent = Recorder<String>()

        init(_ environment: Simulation) throws {
            clock = environment.gatewayClock
            device = try #require(DeviceID("band-1"))
            let settings = DeliverySettings(
                topics: ContractTopics(gateway: device),
                calendar: try #require(LocalCalendar(identifier: "UTC")), clock: clock,
                logger: Logger(label: "test") { _ in SwiftLogNoOpLogHandler() })
            var options = StoreOptions()
            options.maximumAnswers = 0
            scratch = try ScratchStore(environment, options: options)
            log = CommandLog(
                store: scratch.base, retained: retained, settings: settings, status: status,
                generator: SplitMix64(seed: 1))
            retained.connect()
        }

        /// The ids of the answers that a broker has taken.
        var answered: [String] { sent.elements }

        /// Takes what waits.
        func take(_ count: Int = .max) throws {
            var rest = count
            while rest > 0, let entry = retained.next() {
                rest -= 1
                guard case .message(let message) = entry else { continue }
                let answer = try JSONValue(parsing: message.payload)
                #expect(answer["code"] == "busy")
                if let id = answer["id"]?.asString { sent.append(id) }
            }
        }

        /// Sends commands at once, as the queue does, and waits for their ends.
        func begin(_ numbers: Range<Int>) async {
            await withDiscardingTaskGroup { group in
                for number in numbers {
                    group.addTask {
                        let command = CommandEnvelope(id: "\(number)", device: device, command: "sync")
                        #expect(await log.begin(command) == nil)
                    }
                }
            }
        }
    }

    private func run(_ body: @escaping @Sendable (Rig) async throws -> Void) throws {
        for seed: UInt64 in 0..<3 {
            try Simulation.run(seed: seed, deadline: .hours(1)) { environment in try await body(Rig(environment)) }
        }
    }

    @Test func `three thousand refusals are all sent to a broker that takes a hundred in a tenth of a second`() throws {
        try run { rig in
            try await withThrowingTaskGroup(of: Void.self) { group in
                group.addTask {
                    for first in stride(from: 0, to: 3_000, by: 250) { await rig.begin(first..<first + 250) }
                }
                group.addTask {
                    while rig.answered.count + rig.status.snapshot.dropped < 3_000 {
                        try await rig.clock.sleep(for: .milliseconds(100))
                        try rig.take(100)
                    }
                }
                try await group.waitForAll()
            }
            #expect(rig.status.snapshot.dropped == 0)
            #expect(Set(rig.answered).count == 3_000)
        }
    }

    @Test func `what a broker takes too slowly is counted, and whoever takes commands waits a second at most`() throws {
        try run { rig in
            let count = RetainedStates.maximumOnce + 256
            let began = rig.clock.uptime
            await rig.begin(0..<count)
            #expect(rig.clock.uptime - began >= CommandLog.roomWait)
            #expect(rig.clock.uptime - began < CommandLog.roomWait + .milliseconds(100))
            #expect(rig.status.snapshot.dropped == 256)
            // No command waits again for a broker that took nothing since.
            let after = rig.clock.uptime
            await rig.begin(1_000..<2_000)
            #expect(rig.clock.uptime - after < .milliseconds(100))
            #expect(rig.status.snapshot.dropped == 1_256)
            // It takes some: there is room, and then waiting is worth it once more.
            try rig.take()
            #expect(rig.answered.count == RetainedStates.maximumOnce)
            await rig.begin(5_000..<5_001)
            try rig.take()
            #expect(rig.answered.last == "5000")
            #expect(rig.status.snapshot.dropped == 1_256)
        }
    }

    @Test func `without a connection nobody waits, and at the end of one nobody waits on`() throws {
        try run { rig in
            await rig.begin(0..<RetainedStates.maximumOnce)
            let began = rig.clock.uptime
            async let refused: Void = rig.begin(1_000..<1_100)
            try await rig.clock.sleep(for: .milliseconds(500))
            rig.retained.disconnect()
            await refused
            #expect(rig.clock.uptime - began < .milliseconds(600))
            #expect(rig.status.snapshot.dropped == 100)
            await rig.begin(2_000..<2_001)
            #expect(rig.status.snapshot.dropped == 101)
        }
    }
}
