import Concurrency
import GatewayKit

/// A connection to a device, from the attempt to its end.
final class OpenLink: Sendable {
    /// The identifier of the device that has the link.
    let holder: LinkTurns.Holder
    /// The object of the device.
    let path: String
    let device: DeviceTarget
    /// The values that the device sent.
    let values = GATTValueQueue()
    /// Why the link is over.
    let ended = Promise<LinkError>()
    /// The services are known, or the device has gone before.
    let resolved = Promise<Void>()

    init(holder: LinkTurns.Holder, path: String, device: DeviceTarget) {
        (self.holder, self.path, self.device) = (holder, path, device)
    }

    /// Ends the link. Values that arrived still come.
    func end(_ error: LinkError) {
        guard ended.fulfil(error) else { return }
        values.finish(error)
        resolved.fulfil(())
    }

    /// Whether the gateway ends the link on purpose, and comes back.
    var isLeft: Bool { ended.value?.code == .ended }
}
