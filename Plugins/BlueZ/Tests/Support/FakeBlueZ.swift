import Concurrency
import GatewayKit
import TestSupport

@testable import BlueZ

/// The part of BlueZ that the gateway uses, on a bus of the test, with scripted devices. It does what BlueZ 5.66 was seen to do: it
/// reports a value that is read as if it were notified, and answers after its signals.
actor FakeBlueZ {
    typealias Answer = Bus.Result
    private static let loop = BusLoop(label: "fake-bluez")

    nonisolated var unownedExecutor: UnownedSerialExecutor { Self.loop.asUnownedSerialExecutor() }
    /// What was called: the method and the end of the path.
    nonisolated let calls = Recorder<String>()
    let address: String
    var bus: Bus?
    var objects: [String: [String: [String: BusValue]]] = [:]
    var devices: [String: FakeDevice] = [:]
    var names: [String: (address: String, name: String)] = [:]
    /// What the next calls of a method are answered with.
    var failures: [String: [BusError?]] = [:]
    /// Methods that are performed only when the promise is fulfilled.
    var held: [String: Promise<Void>] = [:]
    /// Methods that are never answered.
    var silent: Set<String> = []
    /// Adapters that hear nothing.
    var deaf: Set<String> = []
    /// Adapters that say that they begin to scan, and do not.
    var hung: Set<String> = []
    /// The agent of the client, and the services that it offers.
    var agent: (sender: String, path: String, ability: String)?
    var application: (sender: String, path: String)?
    private var waiting: [Int: Bus.Message] = [:]
    private var number = 0

    init(address: String) { self.address = address }

    /// Connects to the bus, with these adapters.
    func start(adapters: [String] = ["hci0"], isPowered: Bool = true) async throws {
        for name in adapters { addAdapter(name, isPowered: isPowered) }
        let bus = try Bus(address: address, loop: Self.loop)
        self.bus = bus
        try bus.export(below: "/") { self.take($0) }
        _ = try await bus.call(
            DBus.service, DBus.path, DBus.service, "RequestName", [.string(BlueZ.service), .uint32(0)])
    }

    /// Ends, like a crash.
    func stop() {
        for device in devices.values { device.pump?.cancel() }
        bus?.close()
        bus = nil
        objects = [:]
        devices = [:]
    }

    /// The errors of the next calls of a method; a call is performed where there is none.
    func fail(_ member: String, _ errors: BusError?...) { failures[member, default: []] += errors }

    /// Performs the calls of a method only when the promise is fulfilled. It is one that takes its time, such as `Connect`.
    func hold(_ member: String) -> Promise<Void> {
        let release = Promise<Void>()
        held[member] = release
        return release
    }

    func silence(_ member: String, _ isSilent: Bool = true) {
        if isSilent { silent.insert(member) } else { silent.remove(member) }
    }

    /// An adapter hears nothing until it is switched off and on, as one whose controller hangs.
    func deafen(_ adapter: String) { deaf.insert("/org/bluez/\(adapter)") }

    /// An adapter takes the order to scan and does not scan until it is switched off and on, as one whose controller hangs.
    func hang(_ adapter: String) { hung.insert("/org/bluez/\(adapter)") }

    /// An object's property.
    func property(_ path: String, _ interface: String, _ name: String) -> BusValue? { objects[path]?[interface]?[name] }

    // MARK: - Objects

    func addAdapter(_ name: String, isPowered: Bool = true) {
        let number = name.last.map { String($0) } ?? "0"
        add(
            "/org/bluez/\(name)", BlueZ.adapter,
            [
                "Address": .string("00:00:00:00:00:0\(number)"), "Powered": .bool(isPowered),
                "Discovering": .bool(false),
            ])
        add("/org/bluez/\(name)", BlueZ.gattManager, [:])
    }

    func removeAdapter(_ name: String) {
        let path = "/org/bluez/\(name)"
        for object in objects.keys.sorted().reversed() where object == path || object.hasPrefix(path + "/") {
            remove(object)
        }
    }

    func add(_ path: String, _ interface: String, _ properties: [String: BusValue]) {
        objects[path, default: [:]][interface] = properties
        try? bus?.emit(
            "/", DBus.objectManager, "InterfacesAdded",
            [
                .path(path),
                .dictionary(key: "s", value: "a{sv}", [.init(key: .string(interface), value: .options(properties))]),
            ])
    }

    func remove(_ path: String) {
        let interfaces = (objects.removeValue(forKey: path) ?? [:]).keys.sorted()
        try? bus?.emit(
            "/", DBus.objectManager, "InterfacesRemoved",
            [
                .path(path), .array(of: "s", interfaces.map { .string($0) }),
            ])
    }

    func change(_ path: String, _ interface: String, _ changed: [String: BusValue]) {
        guard objects[path]?[interface] != nil else { return }
        objects[path]?[interface]?.merge(changed) { $1 }
        try? bus?.emit(
            path, DBus.properties, "PropertiesChanged",
            [
                .string(interface), .options(changed), .array(of: "s", []),
            ])
    }

    // MARK: - Calls

    private func take(_ call: Bus.Message) {
        let name = "\(call.member) \(call.path.split(separator: "/").last ?? "")"
        if call.member != "GetManagedObjects" { calls.append(name) }
        if silent.contains(call.member) { return }
        if let error = failures[call.member]?.first {
            failures[call.member]?.removeFirst()
            if let error { return reply(call, .failure(error)) }
        }
        if let answer = answer(call) { return reply(call, answer) }
        number += 1
        waiting[number] = call
        Task { [number] in await self.perform(number) }
    }

    func reply(_ call: Bus.Message, _ answer: Answer) { try? bus?.reply(to: call, answer) }

    /// The answer to a call that needs no waiting; `nil` for another one.
    private func answer(_ call: Bus.Message) -> Answer? {
        switch (call.interface, call.member) {
        case (DBus.objectManager, _): return .success([managedObjects()])
        case (DBus.properties, "Set"):
            let values = call.arguments.map(\.plain)
            guard values.count == 3, let interface = values[0].text, let name = values[1].text else {
                return .success([])
            }
            change(call.path, interface, [name: values[2]])
            if name == "Powered", values[2].flag == false {
                deaf.remove(call.path)
                hung.remove(call.path)
                change(call.path, interface, ["Discovering": .bool(false)])
            }
            return .success([])
        case (BlueZ.adapter, "SetDiscoveryFilter"): return .success([])
        case (BlueZ.adapter, "StartDiscovery") where hung.contains(call.path): return .success([])
        case (BlueZ.adapter, "StartDiscovery"):
            change(call.path, BlueZ.adapter, ["Discovering": .bool(true)])
            for device in devices.values where device.isAdvertising && device.adapter == call.path {
                advertise(device.path)
            }
            return .success([])
        case (BlueZ.adapter, "StopDiscovery"):
            change(call.path, BlueZ.adapter, ["Discovering": .bool(false)])
            return .success([])
        case (BlueZ.agentManager, "RegisterAgent"):
            agent = (call.sender, call.arguments[0].text ?? "", call.arguments[1].text ?? "")
            return .success([])
        case (BlueZ.agentManager, "UnregisterAgent"):
            agent = nil
            return .success([])
        case (BlueZ.gattManager, "UnregisterApplication"):
            application = nil
            return .success([])
        default: return nil
        }
    }

    private func managedObjects() -> BusValue {
        .dictionary(
            key: "o", value: "a{sa{sv}}",
            objects.sorted { $0.key < $1.key }.map { path, interfaces in
                .init(
                    key: .path(path),
                    value: .dictionary(
                        key: "s", value: "a{sv}",
                        interfaces.map {
                            .init(key: .string($0), value: .options($1))
                        }))
            })
    }

    private func perform(_ number: Int) async {
        guard let call = waiting.removeValue(forKey: number) else { return }
        if let release = held[call.member] { try? await release.wait() }
        do throws(BusError) { reply(call, .success(try await result(of: call))) } catch { reply(call, .failure(error)) }
    }
}

extension BusError {
    static func bluez(_ name: String, _ message: String = "") -> BusError {
        .reply(name: "org.bluez.Error.\(name)", message: message)
    }
}
