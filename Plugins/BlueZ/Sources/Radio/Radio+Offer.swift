import Concurrency
import GatewayKit

/// Services that the gateway offers on an adapter. It belongs to the radio.
struct OfferedServices {
    /// The adapter that offers them: one that was plugged in again has forgotten them.
    let adapter: Adapter
    /// The newest ones, for a device that reads before its driver has offered it anything.
    var services: [GATTLocalService]
    /// Those of each device that has a link, by its object.
    var own: [String: [GATTLocalService]]
    /// BlueZ has taken them, or has not.
    let registered = Promise<Bool>()

    /// The services for a device.
    func services(for device: String) -> [GATTLocalService] { own[device] ?? services }
}

/// Services of the gateway, which BlueZ offers through its `GattManager1`.
///
/// BlueZ shows them to every device that is connected. A device reads the first ones with the right identifiers, so that like services of
/// several devices are one, which all of the gateway's devices may read. They stay when a link ends: some devices look for the time as
/// soon as they are connected, and only then.
extension Radio {
    static let offerPath = "/vitals2mqtt/services"

    func serve(_ services: [GATTLocalService], to link: OpenLink) async throws(GATTError) {
        while true {
            if let end = link.ended.value { throw .link(end) }
            guard let path = tree.adapter(of: link.path), tree[path, BlueZ.gattManager] != nil,
                let adapter = adapters[path]
            else { throw .refused(.requestNotSupported) }
            offered = offered.filter { adapters[$0.value.adapter.path] === $0.value.adapter }
            let alike = offered.first { $0.value.adapter === adapter && $0.value.services.isAlike(services) }
            guard let (root, offer) = alike else { return try await register(services, on: adapter, for: link) }
            offered[root]?.services = services
            offered[root]?.own[link.path] = services
            do { if try await offer.registered.wait() { return } } catch {
                throw .link(LinkError(.cancelled, "The gateway no longer waits for the device."))
            }
        }
    }

    private func register(
        _ services: [GATTLocalService], on adapter: Adapter, for link: OpenLink
    ) async throws(GATTError) {
        offerNumber += 1
        let root = "\(Self.offerPath)/\(offerNumber)"
        let offer = OfferedServices(adapter: adapter, services: services, own: [link.path: services])
        offered[root] = offer
        do throws(BusError) {
            try await call(adapter.path, BlueZ.gattManager, "RegisterApplication", [.path(root), .options()])
        } catch {
            offered[root] = nil
            offer.registered.fulfil(false)
            throw GATTError(error)
        }
        offer.registered.fulfil(true)
    }

    /// Forgets what was offered to a device.
    func withdrawServices(of link: OpenLink) {
        for root in offered.keys { offered[root]?.own[link.path] = nil }
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
            let options = question.arguments.first?.members ?? [:]
            for (root, offer) in offered where question.path.hasPrefix(root + "/") {
                guard let device = options["device"]?.text, links[device] != nil else {
                    return .failure(.reply(name: "org.bluez.Error.NotPermitted", message: "It is for other devices."))
                }
                let found = Self.characteristics(of: offer.services(for: device), below: root)
                guard let (_, characteristic) = found.first(where: { $0.path == question.path }) else { break }
                let offset = options["offset"]?.number ?? 0
                return .success([.bytes(Array(characteristic.value().dropFirst(offset)))])
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

extension [GATTLocalService] {
    /// Whether these services have the same identifiers as others.
    fileprivate func isAlike(_ others: [GATTLocalService]) -> Bool {
        map(\.uuid) == others.map(\.uuid)
            && map { $0.characteristics.map(\.uuid) } == others.map { $0.characteristics.map(\.uuid) }
    }
}
