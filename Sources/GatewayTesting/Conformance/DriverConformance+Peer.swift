package import GatewayKit
package import Vitals

extension DriverConformance {
    /// The other side of a session, in the hands of the suite. What it cannot do is not checked.
    package struct Peer: Sendable {
        /// Ends the link, as if the device went out of reach.
        package var disconnect: @Sendable () async -> Void
        /// Lets the device send something by itself, and returns the events that must arrive, in this order, whatever else
        /// comes between them. `nil` for a device that sends nothing by itself.
        package var sendEvents: (@Sendable () async -> [DeviceEvent])?
        /// Lets the device send live samples, three or more, that it wants to hear about (`DeviceSession.settle`), and
        /// returns them with the names by which `told` tells of them. It needs `told`.
        package var sendSafeSamples: (@Sendable () async -> [SafeSample])?
        /// Lets the device answer nothing more, while the link stays open.
        package var fallSilent: (@Sendable () async -> Void)?
        /// Waits until what the device was told fulfils a condition, and returns all of it, oldest first. Where nothing
        /// more can come it may return before that.
        package var told: (@Sendable (_ condition: @escaping @Sendable ([Told]) -> Bool) async throws -> [Told])?

        /// A peer.
        package init(
            disconnect: @escaping @Sendable () async -> Void,
            sendEvents: (@Sendable () async -> [DeviceEvent])? = nil,
            sendSafeSamples: (@Sendable () async -> [SafeSample])? = nil,
            fallSilent: (@Sendable () async -> Void)? = nil,
            told: (@Sendable (_ condition: @escaping @Sendable ([Told]) -> Bool) async throws -> [Told])? = nil
        ) {
            self.disconnect = disconnect
            self.sendEvents = sendEvents
            self.sendSafeSamples = sendSafeSamples
            self.fallSilent = fallSilent
            self.told = told
        }
    }

    /// A live sample whose device waits to hear that it is durable.
    package struct SafeSample: Sendable, Hashable {
        /// What `Told.settled` calls it.
        package var name: String
        /// The sample.
        package var sample: Sample

        /// A sample with a name.
        package init(_ name: String, _ sample: Sample) {
            self.name = name
            self.sample = sample
        }
    }

    /// Something that a device was told, and that no call of the gateway can read back.
    package enum Told: Sendable, Hashable {
        /// The time that its clock was set to, and the offset from UTC in minutes where the device keeps one.
        case clock(Timestamp, utcOffset: Int?)
        /// The gateway has everything of a metric up to and including this start.
        case acknowledged(Metric, through: Timestamp)
        /// A safe sample is durable, or refused.
        case settled(String, isDurable: Bool)
        /// The gateway said goodbye.
        case goodbye
    }

    /// Adds a finding if a device that can be looked into is not told something in time.
    func expectTold(
        _ what: String, _ peer: Peer, _ findings: Findings, _ condition: @escaping @Sendable ([Told]) -> Bool
    ) async {
        guard let told = peer.told else { return }
        let all = try? await inTime(what) { try await told(condition) }
        findings.expect(all.map(condition) ?? false, "the device was not told \(what).")
    }
}
