import GatewayKit
import GatewayTesting
import TestSupport

@testable import BlueZ

/// A device of the fake BlueZ.
struct FakeDevice {
    var path: String
    var adapter: String
    /// Makes the device anew for each connection.
    var make: @Sendable () -> ScriptedPeripheral
    var isAdvertising = true
    var strength: Int16 = -60
    /// Further properties of its object.
    var advertised: [String: BusValue] = [:]
    /// The passkey that it shows; pairing needs none if it is `nil`.
    var passkey: UInt32?
    /// The blood pressures that it indicates when it is connected, before it ends the connection.
    var farewell: [[UInt8]] = []
    /// The connection.
    var peripheral: ScriptedPeripheral?
    var characteristics: [String: GATTCharacteristic] = [:]
    var pump: Task<Void, Never>?
}

extension FakeBlueZ {
    static func path(_ address: String, on adapter: String = "hci0") -> String {
        "/org/bluez/\(adapter)/dev_\(address.replacing(":", with: "_"))"
    }

    /// Adds a device. It advertises at once if a scan runs, and in later ones.
    func addDevice(
        _ address: String, name: String, adapter: String = "hci0", passkey: UInt32? = nil,
        properties advertised: [String: BusValue] = [:], _ make: @escaping @Sendable () -> ScriptedPeripheral
    ) {
        let path = Self.path(address, on: adapter)
        devices[path] = FakeDevice(
            path: path, adapter: "/org/bluez/\(adapter)", make: make, advertised: advertised, passkey: passkey)
        names[path] = (address, name)
        advertise(path)
    }

    /// The device advertises now and in later scans.
    func advertise(_ path: String = Clinic.path) {
        guard var device = devices[path], let name = names[path] else { return }
        device.isAdvertising = true
        device.strength = device.strength == -60 ? -61 : -60
        devices[path] = device
        guard property(device.adapter, BlueZ.adapter, "Discovering") == .bool(true), !deaf.contains(device.adapter)
        else {
            return
        }
        if objects[path] == nil {
            add(
                path, BlueZ.device,
                [
                    "Address": .string(name.address), "Name": .string(name.name), "Adapter": .path(device.adapter),
                    "Connected": .bool(false), "ServicesResolved": .bool(false), "Paired": .bool(false),
                    "Trusted": .bool(false), "RSSI": .int16(device.strength),
                ].merging(device.advertised) { $1 })
        } else {
            change(path, BlueZ.device, ["RSSI": .int16(device.strength)])
        }
    }

    /// The device does not advertise any more.
    func hide(_ path: String = Clinic.path) { devices[path]?.isAdvertising = false }

    /// The connected device.
    func peripheral(_ path: String = Clinic.path) -> ScriptedPeripheral? { devices[path]?.peripheral }

    /// The device ends the connection.
    func disconnect(_ path: String = Clinic.path) {
        guard let device = devices[path], device.peripheral != nil else { return }
        device.pump?.cancel()
        device.peripheral?.disconnect()
        devices[path]?.peripheral = nil
        devices[path]?.pump = nil
        change(path, BlueZ.device, ["Connected": .bool(false), "ServicesResolved": .bool(false)])
        for object in objects.keys.sorted().reversed() where object.hasPrefix(path + "/") { remove(object) }
    }

    /// The device indicates these blood pressures when it is connected, and ends the connection.
    func hurry(_ path: String, _ farewell: [[UInt8]]) { devices[path]?.farewell = farewell }

    /// Reports a value of a characteristic, as BlueZ does for its own subscription, which it renews when a paired device comes back.
    func notify(_ bytes: [UInt8], of uuid: UInt16, _ path: String = Clinic.path) {
        let objects = devices[path]?.characteristics.filter { $0.value.uuid == BluetoothUUID(uuid) } ?? [:]
        for object in objects.keys { change(object, BlueZ.characteristic, ["Value": .bytes(bytes)]) }
    }

    /// Answers a call of a device or a characteristic.
    func result(of call: Bus.Message) async throws(BusError) -> [BusValue] {
        switch (call.interface, call.member) {
        case (BlueZ.device, "Connect"): try connect(call.path)
        case (BlueZ.device, "Disconnect"): disconnect(call.path)
        case (BlueZ.device, "Pair"): try await pair(call.path)
        case (BlueZ.device, "CancelPairing"): break
        case (BlueZ.gattManager, "RegisterApplication"):
            let path = call.arguments[0].text ?? ""
            _ = try await bus?.call(call.sender, path, DBus.objectManager, "GetManagedObjects")
            application = (call.sender, path)
        case (BlueZ.characteristic, _): return try await value(of: call)
        default: throw .reply(name: "org.freedesktop.DBus.Error.UnknownMethod", message: "No such method")
        }
        return []
    }

    private func connect(_ path: String) throws(BusError) {
        guard var device = devices[path], device.isAdvertising else {
            throw .bluez("Failed", "le-connection-abort-by-local")
        }
        if device.peripheral != nil { throw .bluez("AlreadyConnected", "Already Connected") }
        let peripheral = device.make()
        device.peripheral = peripheral
        change(path, BlueZ.device, ["Connected": .bool(true)])
        for (number, service) in peripheral.services.enumerated() {
            let object = "\(path)/service00\(number < 10 ? "0" : "")\(number)"
            if service.uuid == .batteryService {
                change(path, BlueZ.device, [:])
                add(path, BlueZ.battery, ["Percentage": .byte(64)])
                continue
            }
            add(object, BlueZ.gattService, ["UUID": .string("\(service.uuid)"), "Primary": .bool(true)])
            for characteristic in service.characteristics {
                let hex = String(characteristic.handle - 1, radix: 16)
                let place = object + "/char" + String(repeating: "0", count: 4 - hex.count) + hex
                device.characteristics[place] = characteristic
                add(
                    place, BlueZ.characteristic,
                    [
                        "UUID": .string("\(characteristic.uuid)"), "Service": .path(object), "Notifying": .bool(false),
                        "MTU": .uint16(UInt16(peripheral.maximumPayload + 3)),
                        "Flags": .array(of: "s", Self.flags(characteristic.properties)),
                    ])
            }
        }
        let objects = Dictionary(device.characteristics.map { ($1, $0) }) { $1 }
        device.pump = Task {
            while let value = try? await peripheral.link.nextValue() {
                guard !Task.isCancelled, let object = objects[value.characteristic] else { continue }
                change(object, BlueZ.characteristic, ["Value": .bytes(value.bytes)])
            }
            if !Task.isCancelled { disconnect(path) }
        }
        devices[path] = device
        change(path, BlueZ.device, ["ServicesResolved": .bool(true)])
        if device.farewell.isEmpty { return }
        for bytes in device.farewell { notify(bytes, of: 0x2a35, path) }
        disconnect(path)
    }

    private static func flags(_ properties: GATTProperties) -> [BusValue] {
        let names: [(GATTProperties, String)] = [
            (.read, "read"), (.write, "write"), (.writeWithoutResponse, "write-without-response"), (.notify, "notify"),
            (.indicate, "indicate"),
        ]
        return names.filter { properties.contains($0.0) }.map { .string($0.1) }
    }

    private func pair(_ path: String) async throws(BusError) {
        guard let agent, let bus else { throw .bluez("AuthenticationFailed", "Authentication Failed") }
        do throws(BusError) {
            if let passkey = devices[path]?.passkey {
                guard agent.ability != "NoInputNoOutput" else { throw .bluez("AuthenticationFailed") }
                let answer = try await bus.call(agent.sender, agent.path, BlueZ.agent, "RequestPasskey", [.path(path)])
                guard answer == [.uint32(passkey)] else { throw .bluez("AuthenticationFailed") }
            } else {
                _ = try await bus.call(agent.sender, agent.path, BlueZ.agent, "RequestAuthorization", [.path(path)])
            }
        } catch { throw .bluez("AuthenticationFailed", "Authentication Failed") }
        change(path, BlueZ.device, ["Paired": .bool(true), "Bonded": .bool(true)])
        if devices[path]?.peripheral == nil { try connect(path) }
    }

    /// Asks a client's agent something, as BlueZ does while it pairs. BlueZ itself asks only an agent that is registered.
    func ask(
        _ agent: (sender: String, path: String, ability: String), _ question: String, _ arguments: [BusValue]
    ) async -> Bus.Result {
        guard let bus else { return .failure(.closed("The fake BlueZ has ended.")) }
        do throws(BusError) {
            return .success(try await bus.call(agent.sender, agent.path, BlueZ.agent, question, arguments))
        } catch { return .failure(error) }
    }

    private func value(of call: Bus.Message) async throws(BusError) -> [BusValue] {
        let device = devices.values.first { call.path.hasPrefix($0.path + "/") }
        guard let device, let link = device.peripheral?.link, let characteristic = device.characteristics[call.path]
        else {
            throw .bluez("Failed", "Not connected")
        }
        do throws(GATTError) {
            switch call.member {
            case "ReadValue":
                let bytes = try await link.read(characteristic)
                change(call.path, BlueZ.characteristic, ["Value": .bytes(bytes)])
                return [.bytes(bytes)]
            case "WriteValue":
                let isRequest = call.arguments[1].members["type"]?.text == "request"
                try await link.write(
                    call.arguments[0].data ?? [], to: characteristic, isRequest ? .withResponse : .withoutResponse)
            case "StartNotify":
                try await link.subscribe(to: characteristic)
                change(call.path, BlueZ.characteristic, ["Notifying": .bool(true)])
            default:
                try await link.unsubscribe(from: characteristic)
                change(call.path, BlueZ.characteristic, ["Notifying": .bool(false)])
            }
            return []
        } catch {
            throw Self.error(error)
        }
    }

    /// How BlueZ writes an error of a device.
    private static func error(_ error: GATTError) -> BusError {
        guard case .refused(let refusal) = error else { return .bluez("Failed", "Not connected") }
        switch refusal {
        case .readNotPermitted: return .bluez("NotPermitted", "Read not permitted")
        case .writeNotPermitted: return .bluez("NotPermitted", "Write not permitted")
        case .insufficientAuthentication: return .bluez("NotPermitted", "Not paired")
        case .insufficientAuthorization: return .bluez("NotAuthorized", "Operation Not Authorized")
        case .invalidLength: return .bluez("InvalidValueLength", "Invalid Length")
        case .requestNotSupported: return .bluez("NotSupported", "Operation is not supported")
        default:
            let code = String(refusal.code, radix: 16)
            return .bluez("Failed", "Operation failed with ATT error: 0x" + (code.count < 2 ? "0" : "") + code)
        }
    }
}

extension FakeBlueZ {
    /// Reads a characteristic that the gateway serves, for a device.
    func readFromGateway(_ short: UInt16, by device: String, offset: UInt16 = 0) async throws(BusError) -> [UInt8] {
        guard let application, let bus else { throw .bluez("DoesNotExist") }
        let objects = try await bus.call(application.sender, application.path, DBus.objectManager, "GetManagedObjects")
        let uuid = "\(BluetoothUUID(short))"
        let path = objects.first?.members.first {
            $0.value.members[BlueZ.characteristic]?.members["UUID"]?.text == uuid
        }?.key
        guard let path else { throw .bluez("DoesNotExist") }
        let options = BusValue.options(["device": .path(device), "offset": .uint16(offset)])
        let answer = try await bus.call(application.sender, path, BlueZ.characteristic, "ReadValue", [options])
        return answer.first?.data ?? []
    }
}
