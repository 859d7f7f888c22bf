import GatewayKit
import Vitals

/// The identity of the device: from the configuration, and from its last connection.
final class DeviceProfile {
    private(set) var info: DeviceInfo
    private let context: DeviceContext

    init(_ info: DeviceInfo, context: DeviceContext) {
        self.info = info
        self.context = context
    }

    /// The device's capabilities; `nil` before its first connection.
    var capabilities: Capabilities? { info.capabilities }

    /// Restores the profile from the store.
    func restore(from record: DeviceRecord) {
        info.identity = record.identity
        info.capabilities = record.capabilities
        info.features = record.features
    }

    /// Takes a connected device's description, if it is new.
    func update(_ description: DeviceDescription) async {
        guard info.identity != description.identity || info.capabilities != description.capabilities else { return }
        info.identity = description.identity
        info.capabilities = description.capabilities
        await context.save([.identity(description.identity, description.capabilities)])
        publish()
    }

    /// Notes that the device reports something that not every device reports.
    func update(_ feature: DeviceFeatures) async {
        guard !info.features.isSuperset(of: feature) else { return }
        info.features.formUnion(feature)
        await context.save([.features(info.features)])
        publish()
    }

    func publish() { context.publish(.info(info)) }
}
