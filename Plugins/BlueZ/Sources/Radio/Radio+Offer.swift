import Concurrency
import GatewayKit

/// Services that the gateway offers to a device.
struct OfferedServices: Sendable {
    var link: OpenLink
    /// The adapter that offers them.
    var adapter: String
    var services: [GATTLocalService]
}

/// Services of the gateway, which BlueZ offers through its `GattManager1`.
///
/// BlueZ shows them to every device that is connected; the gateway lets only the one read that they are for.
extension Radio {
    static let offerPath = "/vitals2mqtt/services"

    func serve(_ services: [GATTLocalService], to link: OpenLink) async throws(GATTError) {
        if let end = link.ended.value { throw .link(end) }
        guard let adapter = tree.adapter(of: link.path), tree[adapter, BlueZ.gattManager] != nil else {
            throw .refused(.requestNotSupported)
        }
        offerNumber += 1
        let root = "\(Self.offerPath)/\(offerNumber)"
        offered[root] = OfferedServices(link: link, adapter: adapter, services: services)
        do throws(BusError) {
            try await call(adapter, BlueZ.gattManager, "RegisterApplication", [.path(root), .options()])
        } catch {
            offered[root] = nil
            throw GATTError(error)
        }
    }

    /// Takes back what was offered to a device.
    func withdrawServices(of link: OpenLink) async {
        for (root, offer) in offered where offer.link === link {
            offered[root] = nil
            _ = try? await call(
                offer.adapter, BlueZ.gattManager, "UnregisterApplication", [.path(root)], isCleanUp: true)
        }
    }

    /// Answers BlueZ's questions about the services.
    func answer(_ question: Bus.Message) {
        try? bus?.reply(to: question, result(of: question))
    }

    private func result(of question: Bus.Message) -> Bus.Result {
        let unknown = Bus.Result.failure(
            .reply(name: "org.freedesktop.DBus.Error.UnknownMethod", message: "There is no such method here."))
        guard question.sender == owner else { return unknown }
        switch question.member {
        case "GetManagedObjects":
            guard let offer = offered[question.path] else { return unknown }
            return .success([Self.objects(of: offer.services, below: question.path)])
        case "ReadValue":
            for (root, offer) in offered {
                for (path, characteristic) in Self.characteristics(of: offer.services, below: root)
                where path == question.path {
                    let options = question.arguments.first?.members ?? [:]
                    guard options["device"]?.text == offer.link.path else {
                        return .failure(
                            .reply(name: "org.bluez.Error.NotPermitted", message: "It is for another device."))
                    }
                    let offset = options["offset"]?.number ?? 0
                    return .success([.bytes(Array(characteristic.value().dropFirst(offset)))])
                }
            }
            return unknown
        default: return unknown
        }
    }

    private static func characteristics(
        of services: [GATTLocalService], below root: String
    ) -> [(path: String, GATTLocalCharacteristic)] {
        services.enumerated().flatMap { index, service in
            service.characteristics.enumerated().map { ("\(root)/service\(index)/char\($0)", $1) }
        }
    }

    private static func objects(of services: [GATTLocalService], below root: String) -> BusValue {
        var objects: [(String, String, BusValue)] = []
        for (index, service) in services.enumerated() {
            let path = "\(root)/service\(index)"
            objects.append(
                (path, BlueZ.gattService, .options(["UUID": .string("\(service.uuid)"), "Primary": .bool(true)])))
            for (number, characteristic) in service.characteristics.enumerated() {
                objects.append(
                    (
                        "\(path)/char\(number)", BlueZ.characteristic,
                        .options([
                            "UUID": .string("\(characteristic.uuid)"), "Service": .path(path),
                            "Flags": .array(of: "s", [.string("read")]),
                        ])
                    ))
            }
        }
        return .dictionary(
            key: "o", value: "a{sa{sv}}",
            objects.map { path, interface, properties in
                .init(
                    key: .path(path),
                    value: .dictionary(key: "s", value: "a{sv}", [.init(key: .string(interface), value: properties)]))
            })
    }
}
