public import GatewayKit
public import Vitals

extension DriverConformance {
    /// The other side of a session, controlled by the suite. Checks that need an absent part are skipped.
    public struct Peer: Sendable {
        /// Ends the link, as if the device were out of reach.
        public var disconnect: @Sendable () async -> Void
        /// Makes the device send events unasked. Returns the events that must arrive, in this order, possibly among
        /// others. `nil` for a device that sends nothing unasked.
        public var sendEvents: (@Sendable () async -> [DeviceEvent])?
        /// Makes the device send three or more live samples with receipts (`DeviceSession.settle`). Returns them with
        /// their names in `deviceCalls`. It needs `deviceCalls`.
        public var sendSafeSamples: (@Sendable () async -> [SafeSample])?
        /// Makes the device stop answering, while the link stays open.
        public var fallSilent: (@Sendable () async -> Void)?
        /// Waits until the messages to the device fulfil a condition, and returns all of them, oldest first. It may
        /// return earlier if no more can come.
        public var deviceCalls:
            (@Sendable (_ condition: @escaping @Sendable ([DeviceCall]) -> Bool) async throws -> [DeviceCall])?

        /// Creates a peer.
        public init(
            disconnect: @escaping @Sendable () async -> Void,
            sendEvents: (@Sendable () async -> [DeviceEvent])? = nil,
            sendSafeSamples: (@Sendable () async -> [SafeSample])? = nil,
            fallSilent: (@Sendable () async -> Void)? = nil,
            deviceCalls: (
                @Sendable (_ condition: @escaping @Sendable ([DeviceCall]) -> Bool) async throws -> [DeviceCall]
            )? = nil
        ) {
            self.disconnect = disconnect
            self.sendEvents = sendEvents
            self.sendSafeSamples = sendSafeSamples
            self.fallSilent = fallSilent
            self.deviceCalls = deviceCalls
        }
    }

    /// A live sample with a receipt: its device waits for the confirmation that it is durable.
    public struct SafeSample: Sendable, Hashable {
        /// The name of the sample in `DeviceCall.settled`.
        public var name: String
        /// The sample.
        public var sample: Sample

        /// A sample with a name.
        public init(_ name: String, _ sample: Sample) {
            self.name = name
            self.sample = sample
        }
    }

    /// A message to the device that no call of the gateway can read back.
    public enum DeviceCall: Sendable, Hashable {
        /// The time its clock was set to, and the offset from UTC in minutes if the device stores one.
        case clock(Timestamp, utcOffset: Int?)
        /// The gateway has every record of a metric that starts at or before `through`.
        case acknowledged(Metric, through: Timestamp)
        /// A sample with a receipt is durable, or refused.
        case settled(String, isDurable: Bool)
        /// The gateway disconnected gracefully.
        case disconnect
    }

    /// Adds a violation if the device does not get a message in time. Skipped if the peer has no `deviceCalls`.
    func expectCall(
        _ what: String, _ peer: Peer, _ violations: Violations, _ condition: @escaping @Sendable ([DeviceCall]) -> Bool
    ) async {
        guard let deviceCalls = peer.deviceCalls else { return }
        let all = try? await inTime(what) { try await deviceCalls(condition) }
        violations.expect(all.map(condition) ?? false, "the device did not receive \(what).")
    }
}
