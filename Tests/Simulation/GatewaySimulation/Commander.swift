import GatewayKit
import GatewayTesting
import MQTT
import Synchronization
import TestSupport
import Vitals

/// Sends commands to a gateway, one by one and sometimes many at once.
final class Commander: Sendable {
    /// The commands of a flood: more than the 1,024 that may wait to run, so that the gateway answers the rest `busy`.
    static let floods = 1_100...1_600
    /// The commands of a burst.
    private static let burst = 40

    private let broker: InMemoryBroker
    private let clock: GatewayClock
    private let trace: Trace?
    private let state: Mutex<(random: SplitMix64, count: Int)>
    private let flood: Mutex<Int?>
    private let isResting = Mutex(false)

    /// - Parameter flood: how many commands it sends at once the first time; `nil` for the usual ones.
    init(_ broker: InMemoryBroker, clock: GatewayClock, random: SplitMix64, flood: Int?, trace: Trace?) {
        self.broker = broker
        self.clock = clock
        self.trace = trace
        state = Mutex((random, 0))
        self.flood = Mutex(flood)
    }

    /// Sends no more commands.
    func rest() { isResting.withLock { $0 = true } }

    /// Sends commands to these devices until `rest`.
    func run(_ devices: [DeviceID]) async throws {
        while !isResting.withLock({ $0 }) {
            let (wait, usual) = state.withLock { state in
                (
                    Duration.milliseconds(Int.random(in: 5_000...60_000, using: &state.random)),
                    Int.random(in: 0..<8, using: &state.random) == 0 ? Self.burst : 1
                )
            }
            try await clock.sleep(for: wait)
            guard !isResting.withLock({ $0 }) else { return }
            let count = flood.withLock { $0.take() } ?? usual
            if count > 1 { trace?.note("commander", "sends \(count) commands at once") }
            for _ in 0..<count { send(devices) }
        }
    }

    private func send(_ devices: [DeviceID]) {
        let (id, device, kind) = state.withLock { state in
            state.count += 1
            return (
                "c\(state.count)", devices.randomElement(using: &state.random),
                Int.random(in: 0..<8, using: &state.random)
            )
        }
        guard let device else { return }
        if kind == 4 { return replay(id) }
        if kind == 7 { return acknowledge(SampleID(name: id), at: device) }
        let (topic, members) =
            switch kind {
            case 0: ("sync", "")
            case 1: ("daily", ",\"metric\":\"heart_rate\"")
            case 2: ("history", ",\"metric\":\"heart_rate\",\"limit\":5")
            case 3: ("fetch", "")
            default: ("no-such-command", "")
            }
        broker.publish(
            OutgoingMessage(
                topic: "vitals2mqtt/home/\(device.text)/command/\(topic)",
                payload: Array("{\"id\":\"\(id)\"\(members)}".utf8),
                responseTopic: kind == 5 ? MessageRefusal.chosenTopic : nil))
    }

    /// Acknowledges an alert that never was, by the id of the command.
    private func acknowledge(_ id: SampleID, at device: DeviceID) {
        broker.publish(
            OutgoingMessage(
                topic: "vitals2mqtt/home/\(device.text)/command/acknowledge",
                payload: Array("{\"id\":\"\(id)\",\"by\":\"anna\"}".utf8)))
    }

    private func replay(_ id: String) {
        let first = state.withLock { Int.random(in: 1...300, using: &$0.random) }
        broker.publish(
            OutgoingMessage(
                topic: "vitals2mqtt/home/gateway/command/replay",
                payload: Array("{\"id\":\"\(id)\",\"from_seq\":\(first),\"to_seq\":\(first + 20)}".utf8)))
    }
}
