import Foundation
import GatewayKit
import NIOCore
import NIOPosix
import SwiftProtobuf
import TestSupport

@testable import ESPHome

/// A Bluetooth proxy of ESPHome on a real port, with scripted devices. It has the plugin's messages, but frames and encryption of its own;
/// the campaign `esphome` plays the same with ESPHome's own library.
actor FakeProxy {
    struct Setup: Sendable {
        var name = "bedroom"
        var version = "2026.8.1"
        var features: UInt32 = 0x7f
        var key: [UInt8]?
        var connections = 3
        /// What it is without features.
        var legacy: UInt32 = 0
        /// What it says that it has; the real ones are `connections`.
        var apiMajor: UInt32 = 1
        /// Whether the first subscriber keeps the place, as until ESPHome 2026.6.
        var isOld: Bool { version < "2026.7" }
    }

    struct Device {
        var name: String
        var strength: Int32
        var passkey = false
        var make: @Sendable () -> ScriptedPeripheral
        var peripheral: ScriptedPeripheral?
        var registered: Set<UInt32> = []
        var pump: Task<Void, Never>?
        /// The last request, after which the next one is carried out.
        var last: Task<Void, Never>?
    }

    let setup: Setup
    /// What clients asked for.
    nonisolated let calls = Recorder<String>()
    private var clients: [Int: FakeProxyClient] = [:]
    private var nextClient = 0
    private var subscriber: Int?
    private var devices: [UInt64: Device] = [:]
    /// Answers nothing, and hears nothing: its Wi-Fi is gone.
    var isFrozen = false
    private var failures: [MessageType: [Int32]] = [:]
    private var pairsNever = false
    /// Requests that get no answer.
    private var unanswered: Set<MessageType> = []
    /// Connections that something else has.
    var taken = 0

    init(_ setup: Setup = Setup()) { self.setup = setup }

    // MARK: - Clients

    func serve(_ channel: any Channel) async throws {
        nextClient += 1
        let number = nextClient
        clients[number] = FakeProxyClient(channel, key: setup.key, name: setup.name)
        let stream = try await channel.eventLoop.submit {
            try NIOAsyncChannel<ByteBuffer, ByteBuffer>(wrappingChannelSynchronously: channel)
        }.get()
        try? await stream.executeThenClose { inbound, _ in
            try await channel.setOption(.autoRead, value: true).get()
            for try await buffer in inbound {
                guard try self.receive(Array(buffer.readableBytesView), from: number) else { break }
            }
        }
        clients[number] = nil
        guard subscriber == number else { return }
        subscriber = nil
        for address in devices.keys { drop(address) }
    }

    private func receive(_ bytes: [UInt8], from number: Int) throws -> Bool {
        guard let client = clients[number], !isFrozen else { return true }
        for packet in try client.packets(bytes) { handle(packet, from: number) }
        return !client.isRefused
    }

    private func send(_ type: MessageType, _ message: (any Message)? = nil, to number: Int?) {
        guard !isFrozen, let number, let client = clients[number], let packet = try? Packet(type, message) else {
            return
        }
        client.send(packet)
    }

    private func tell(_ type: MessageType, _ message: any Message) { send(type, message, to: subscriber) }

    /// It restarts: all connections end.
    func reboot() {
        for address in devices.keys { drop(address) }
        subscriber = nil
        for client in clients.values { client.channel.close(promise: nil) }
    }

    /// The connections of its clients end, and those of its devices do not.
    func cut() {
        subscriber = nil
        for client in clients.values { client.channel.close(promise: nil) }
    }

    func freeze(_ isFrozen: Bool) { self.isFrozen = isFrozen }
    func fail(_ type: MessageType, _ errors: Int32...) { failures[type] = errors }
    func ignorePairing() { pairsNever = true }
    func ignore(_ type: MessageType) { unanswered.insert(type) }
    func occupy(_ count: Int) {
        taken = count
        sayConnections(to: subscriber)
    }
    /// Another client subscribes, as Home Assistant does.
    func takeOver() { if !setup.isOld || subscriber == nil { subscriber = 0 } }
    /// The other client leaves.
    func leave() { if subscriber == 0 { subscriber = nil } }

    // MARK: - Devices

    func add(
        _ address: UInt64, name: String = "Strap", strength: Int32 = -60, passkey: Bool = false,
        _ make: @escaping @Sendable () -> ScriptedPeripheral = { ScriptedPeripheral.strap() }
    ) {
        devices[address] = Device(name: name, strength: strength, passkey: passkey, make: make)
        advertise(address)
    }

    func remove(_ address: UInt64) { devices[address] = nil }

    /// All devices advertise that are not connected.
    func advertise() { for address in devices.keys.sorted() { advertise(address) } }

    private func advertise(_ address: UInt64) {
        guard let device = devices[address], device.peripheral == nil else { return }
        let name = Array(device.name.utf8)
        let data = [2, 1, 6, 3, 3, 0x0d, 0x18, UInt8(name.count + 1), 9] + name
        tell(
            .advertisements,
            APIAdvertisements.with {
                $0.items = [
                    APIAdvertisement.with {
                        ($0.address, $0.strength, $0.addressType) = (address, device.strength, 1)
                        $0.data = Data(data)
                    }
                ]
            })
    }

    func peripheral(_ address: UInt64) -> ScriptedPeripheral? { devices[address]?.peripheral }

    /// A device ends its connection, or it breaks.
    func drop(_ address: UInt64, reason: Int32 = 0x13) {
        guard let device = devices[address], let peripheral = device.peripheral else { return }
        device.pump?.cancel()
        peripheral.disconnect()
        devices[address]?.peripheral = nil
        devices[address]?.pump = nil
        devices[address]?.registered = []
        say(address, isConnected: false, error: reason)
        sayConnections(to: subscriber)
    }

    private func say(_ address: UInt64, isConnected: Bool, mtu: Int = 0, error: Int32 = 0) {
        tell(
            .deviceConnection,
            APIDeviceConnection.with {
                ($0.address, $0.isConnected, $0.mtu, $0.error) = (address, isConnected, UInt32(mtu), error)
            })
    }

    private func sayConnections(to number: Int?) {
        let used = devices.filter { $0.value.peripheral != nil }.keys
        send(
            .connections,
            APIConnections.with {
                ($0.free, $0.limit) = (
                    UInt32(max(0, setup.connections - used.count - taken)), UInt32(setup.connections)
                )
                $0.allocated = used.sorted()
            }, to: number)
    }

    private func error(_ address: UInt64, _ handle: UInt32, _ code: Int32) {
        tell(
            .attributeError,
            APIAttributeError.with { ($0.address, $0.handle, $0.error) = (address, handle, code) })
    }

    // MARK: - Requests

    private func handle(_ packet: Packet, from number: Int) {
        guard let type = packet.type else { return }
        if ![.pingRequest, .pingResponse].contains(type) { calls.append("\(type)") }
        if type == .deviceRequest, unanswered.contains(type) { return }
        do {
            switch type {
            case .helloRequest:
                send(
                    .helloResponse,
                    APIHelloResponse.with {
                        ($0.apiVersionMajor, $0.apiVersionMinor, $0.name) = (
                            setup.apiMajor, setup.isOld ? 10 : 14, setup.name
                        )
                    }, to: number)
            case .authenticationRequest: send(.authenticationResponse, to: number)
            case .deviceInfoRequest:
                send(
                    .deviceInfo,
                    APIDeviceInfo.with {
                        ($0.name, $0.version, $0.features) = (setup.name, setup.version, setup.features)
                        $0.legacyProxy = setup.legacy
                    }, to: number)
            case .pingRequest: send(.pingResponse, to: number)
            case .subscribeConnections: sayConnections(to: number)
            case .subscribeAdvertisements:
                if setup.isOld, subscriber != nil { return }
                subscriber = number
                send(.scannerState, to: number)
                advertise()
            case .deviceRequest: request(try packet.decoded())
            default: try attribute(packet, type)
            }
        } catch { calls.append("bad \(error)") }
    }

    private func request(_ message: APIDeviceRequest) {
        let address = message.address
        guard let action = DeviceAction(rawValue: message.type) else { return }
        calls.append("\(action)")
        switch action {
        case .connectWithCache, .connectWithoutCache:
            let used = devices.values.count { $0.peripheral != nil } + taken
            if let code = failures[.deviceRequest]?.first {
                failures[.deviceRequest]?.removeFirst()
                return say(address, isConnected: false, error: code)
            }
            if devices[address]?.peripheral != nil { return say(address, isConnected: true) }
            guard let device = devices[address], used < setup.connections, message.hasAddressType_p else {
                return say(address, isConnected: false)
            }
            let peripheral = device.make()
            devices[address]?.peripheral = peripheral
            devices[address]?.pump = Task {
                while let value = try? await peripheral.link.nextValue() {
                    guard !Task.isCancelled else { return }
                    self.report(value, of: address)
                }
                if !Task.isCancelled { self.drop(address) }
            }
            say(address, isConnected: true, mtu: peripheral.maximumPayload + 3)
            sayConnections(to: subscriber)
        case .disconnect:
            if devices[address]?.peripheral == nil {
                say(address, isConnected: false)
            } else {
                drop(address, reason: 0x16)
            }
        case .pair where pairsNever: break
        case .pair:
            let hasPasskey = devices[address]?.passkey == true
            tell(
                .pairing,
                APIPairing.with { ($0.address, $0.isPaired, $0.error) = (address, !hasPasskey, hasPasskey ? 0x4e : 0) })
        }
    }

    private func report(_ value: GATTValue, of address: UInt64) {
        let handle = UInt32(value.characteristic.handle)
        guard devices[address]?.registered.contains(handle) == true else { return }
        tell(
            .notifyData,
            APIAttribute.with { ($0.address, $0.handle, $0.data) = (address, handle, Data(value.bytes)) })
    }

    private func attribute(_ packet: Packet, _ type: MessageType) throws {
        let target: APIAttribute =
            type == .writeRequest || type == .notifyRequest
            ? try APIWriteRequest(serializedBytes: packet.payload).target : try packet.decoded()
        let (address, handle) = (target.address, target.handle)
        guard let peripheral = devices[address]?.peripheral else { return error(address, handle, -1) }
        if unanswered.contains(type) { return }
        if let code = failures[type]?.first {
            failures[type]?.removeFirst()
            return error(address, handle, code)
        }
        if type == .servicesRequest { return sayServices(address, peripheral) }
        let all = peripheral.services.flatMap(\.characteristics)
        let isDescriptor = type == .writeDescriptorRequest
        guard let characteristic = all.first(where: { UInt32($0.handle) == (isDescriptor ? handle - 1 : handle) })
        else {
            return error(address, handle, 1)
        }
        let write: APIWriteRequest? = type == .writeRequest ? try packet.decoded() : nil
        let isOn = type == .notifyRequest ? try packet.decoded(APINotifyRequest.self).isOn : false
        let before = devices[address]?.last
        devices[address]?.last = Task {
            await before?.value
            do {
                var answer = APIAttribute.with { ($0.address, $0.handle) = (address, handle) }
                switch type {
                case .readRequest:
                    answer.data = Data(try await peripheral.link.read(characteristic))
                    tell(.readResponse, answer)
                case .writeRequest:
                    let kind: GATTWrite = write?.hasResponse_p == true ? .withResponse : .withoutResponse
                    try await peripheral.link.write(Array(write?.data ?? Data()), to: characteristic, kind)
                    tell(.writeResponse, answer)
                case .notifyRequest:
                    if isOn {
                        devices[address]?.registered.insert(handle)
                    } else {
                        devices[address]?.registered.remove(handle)
                    }
                    tell(.notifyResponse, answer)
                case .writeDescriptorRequest:
                    if target.data == Data([0, 0]) {
                        try await peripheral.link.unsubscribe(from: characteristic)
                    } else {
                        try await peripheral.link.subscribe(to: characteristic)
                    }
                    tell(.writeResponse, answer)
                default: break
                }
            } catch GATTError.refused(let refusal) { self.error(address, handle, Int32(refusal.code)) } catch {
                self.error(address, handle, -1)
            }
        }
    }

    private func sayServices(_ address: UInt64, _ peripheral: ScriptedPeripheral) {
        for service in peripheral.services {
            tell(
                .services,
                APIServices.with {
                    $0.address = address
                    $0.services = [
                        APIService.with {
                            // Later versions send short identifiers.
                            if setup.isOld {
                                $0.uuid = [service.uuid.high, service.uuid.low]
                            } else if let short = service.uuid.short {
                                $0.shortUuid = UInt32(short)
                            }
                            $0.characteristics = service.characteristics.map { row in
                                APICharacteristic.with {
                                    $0.uuid = [row.uuid.high, row.uuid.low]
                                    ($0.handle, $0.properties) = (UInt32(row.handle), UInt32(row.properties.rawValue))
                                    if row.properties.canSubscribe {
                                        $0.descriptors = [
                                            APIDescriptor.with {
                                                ($0.handle, $0.shortUuid) = (UInt32(row.handle + 1), 0x2902)
                                            }
                                        ]
                                    }
                                }
                            }
                        }
                    ]
                })
        }
        tell(.servicesDone, APIAttribute.with { $0.address = address })
    }
}

extension APIWriteRequest {
    fileprivate var target: APIAttribute { APIAttribute.with { ($0.address, $0.handle) = (address, handle) } }
}
