import Concurrency
import Foundation
import GatewayKit
import SwiftProtobuf
import Vitals

/// The requests, subscriptions and values of a link. It belongs to the radio.
final class LinkTraffic {
    /// A request for a device.
    final class Request {
        let type: MessageType
        let content: RequestContent
        /// The answer that ends it; `nil` if there is none.
        let answer: MessageType?
        let handle: UInt16
        let result = Promise<Result<[UInt8], GATTError>>()
        var isSent = false

        init(_ type: MessageType, _ content: RequestContent, _ handle: UInt16, answer: MessageType?) {
            (self.type, self.content, self.handle, self.answer) = (type, content, handle, answer)
        }
    }

    let link: OpenLink
    var known = KnownServices()
    var subscriptions: [UInt16: GATTCharacteristic] = [:]
    /// When something was last asked, answered or received.
    var lastActivity: Duration
    /// Whether a record has arrived. The proxy has confirmed it, so the device has deleted it, and this is the only copy.
    var hasReportedRecords = false
    /// The writes without a response whose end the proxy has still to report, by handle.
    var owed: [UInt16: Int] = [:]
    /// Those that wait, the one that was sent first.
    var requests: [Request] = []

    init(_ link: OpenLink, at now: Duration) { (self.link, lastActivity) = (link, now) }

    /// Whether an answer is that of a write without a response, which comes before those of later requests.
    func settlesOwed(_ handle: UInt32) -> Bool {
        guard let handle = UInt16(exactly: handle), let count = owed[handle] else { return false }
        owed[handle] = count > 1 ? count - 1 : nil
        return true
    }

    /// Ends all requests.
    func abandon(_ error: LinkError) {
        let waiting = requests
        requests = []
        for request in waiting { request.result.fulfil(.failure(.link(error))) }
    }
}

/// What a request asks for.
enum RequestContent: Sendable {
    case read
    case write([UInt8], hasResponse: Bool)
    case writeDescriptor([UInt8])
    case notify(Bool)
}

/// Requests to devices that are connected.
extension ProxyRadio {
    /// How long a device may take for an answer: the Attribute Protocol ends the connection after 30 s (Bluetooth Core Specification,
    /// Vol 3, Part F, 3.3.3), which the proxy reports.
    static let requestTime: Duration = .seconds(35)

    func read(_ characteristic: GATTCharacteristic, of link: OpenLink) async throws(GATTError) -> [UInt8] {
        let traffic = try find(characteristic, of: link, [.read], else: .readNotPermitted)
        return try await ask(.readRequest, .read, characteristic.handle, answer: .readResponse, of: traffic)
    }

    func write(
        _ bytes: [UInt8], to characteristic: GATTCharacteristic, _ kind: GATTWrite, of link: OpenLink, limit: Int
    ) async throws(GATTError) {
        let property: GATTProperties = kind == .withResponse ? .write : .writeWithoutResponse
        let traffic = try find(characteristic, of: link, [property], else: .writeNotPermitted)
        guard bytes.count <= limit else { throw .refused(.invalidLength) }
        _ = try await ask(
            .writeRequest, .write(bytes, hasResponse: kind == .withResponse), characteristic.handle,
            answer: kind == .withResponse ? .writeResponse : nil, of: traffic)
    }

    func subscribe(to characteristic: GATTCharacteristic, of link: OpenLink) async throws(GATTError) {
        // They are read before the end of the link is reported.
        if hasOnlyRecords(link) { return }
        let traffic = try find(characteristic, of: link, [.notify, .indicate], else: .requestNotSupported)
        let handle = characteristic.handle
        guard traffic.subscriptions[handle] == nil else { return }
        guard let descriptor = traffic.known.switches[handle] else { throw .refused(.requestNotSupported) }
        // Values may come before the answer.
        traffic.subscriptions[handle] = characteristic
        do throws(GATTError) {
            _ = try await ask(.notifyRequest, .notify(true), handle, answer: .notifyResponse, of: traffic)
            let value: [UInt8] = characteristic.properties.contains(.notify) ? [1, 0] : [2, 0]
            _ = try await ask(
                .writeDescriptorRequest, .writeDescriptor(value), descriptor, answer: .writeResponse, of: traffic)
        } catch {
            if case .refused = error { traffic.subscriptions[handle] = nil }
            if hasOnlyRecords(link) { return }
            throw error
        }
    }

    private func hasOnlyRecords(_ link: OpenLink) -> Bool {
        guard link.ended.value != nil, let traffic = traffic[link.address] else { return false }
        return traffic.link === link && traffic.hasReportedRecords
    }

    func unsubscribe(from characteristic: GATTCharacteristic, of link: OpenLink) async throws(GATTError) {
        let traffic = try find(characteristic, of: link, [.notify, .indicate], else: .requestNotSupported)
        let handle = characteristic.handle
        guard traffic.subscriptions[handle] != nil, let descriptor = traffic.known.switches[handle] else { return }
        _ = try await ask(
            .writeDescriptorRequest, .writeDescriptor([0, 0]), descriptor, answer: .writeResponse, of: traffic)
        _ = try await ask(.notifyRequest, .notify(false), handle, answer: .notifyResponse, of: traffic)
        traffic.subscriptions[handle] = nil
    }

    /// The traffic of a link with a characteristic that has one of these properties.
    private func find(
        _ characteristic: GATTCharacteristic, of link: OpenLink, _ properties: GATTProperties, else refusal: ATTError
    ) throws(GATTError) -> LinkTraffic {
        if let end = link.ended.value { throw .link(end) }
        guard let traffic = traffic[link.address], traffic.link === link else {
            throw .link(LinkError(.broken, "The connection is over."))
        }
        let isThere = traffic.known.services.contains { $0.characteristics.contains(characteristic) }
        guard isThere else { throw .refused(.invalidHandle) }
        guard !characteristic.properties.isDisjoint(with: properties) else { throw .refused(refusal) }
        return traffic
    }

    /// Sends a request when those before are answered. Cancelling the wait does not cancel one that was sent.
    private func ask(
        _ type: MessageType, _ content: RequestContent, _ handle: UInt16, answer: MessageType?, of traffic: LinkTraffic
    ) async throws(GATTError) -> [UInt8] {
        let request = LinkTraffic.Request(type, content, handle, answer: answer)
        traffic.requests.append(request)
        sendNext(of: traffic)
        let promise = request.result
        switch await clock.withTimeout(Self.requestTime, { try? await promise.wait() }) {
        case .some(.some(let result)): return try result.get()
        case .some(nil):
            if !request.isSent { traffic.requests.removeAll { $0 === request } }
            throw .link(.notWaiting)
        case nil:
            let error = LinkError(.timeout, "The device does not answer. It is connected again when it advertises.")
            proxies[traffic.link.proxy].connection?.watch?.doubt()
            end(traffic.link, error)
            throw .link(error)
        }
    }

    private func sendNext(of traffic: LinkTraffic) {
        while let request = traffic.requests.first, !request.isSent {
            request.isSent = true
            traffic.lastActivity = clock.uptime
            send(request.content, request, of: traffic.link)
            guard request.answer == nil else { return }
            traffic.owed[request.handle, default: 0] += 1
            traffic.requests.removeFirst()
            request.result.fulfil(.success([]))
        }
    }

    private func send(_ content: RequestContent, _ request: LinkTraffic.Request, of link: OpenLink) {
        let (address, handle) = (link.address, UInt32(request.handle))
        switch content {
        case .read:
            send(request.type, APIAttribute.with { ($0.address, $0.handle) = (address, handle) }, to: link.proxy)
        case .write(let bytes, let hasResponse):
            let message = APIWriteRequest.with {
                ($0.address, $0.handle, $0.hasResponse_p, $0.data) = (address, handle, hasResponse, Data(bytes))
            }
            send(request.type, message, to: link.proxy)
        case .writeDescriptor(let bytes):
            let message = APIAttribute.with { ($0.address, $0.handle, $0.data) = (address, handle, Data(bytes)) }
            send(request.type, message, to: link.proxy)
        case .notify(let isOn):
            let message = APINotifyRequest.with { ($0.address, $0.handle, $0.isOn) = (address, handle, isOn) }
            send(request.type, message, to: link.proxy)
        }
    }

    // MARK: - What comes

    /// A message about a device has come.
    func receive(_ packet: Packet, _ type: MessageType, ofDeviceFrom number: Int) throws {
        switch type {
        case .deviceConnection: changed(try packet.decoded(), from: number)
        case .pairing: paired(try packet.decoded(), from: number)
        case .services:
            let message: APIServices = try packet.decoded()
            guard let traffic = traffic(message.address, of: number) else { return }
            guard traffic.known.add(message) else {
                return end(
                    traffic.link,
                    LinkError(.broken, "The proxy reports services that no device has. Update ESPHome on it."))
            }
        case .servicesDone:
            let message: APIAttribute = try packet.decoded()
            guard let traffic = traffic(message.address, of: number) else { return }
            traffic.link.resolved.fulfil(.success(traffic.known))
        case .notifyData:
            let message: APIAttribute = try packet.decoded()
            guard let traffic = traffic(message.address, of: number) else { return }
            deliver(message, to: traffic)
        case .readResponse, .writeResponse, .notifyResponse:
            let message: APIAttribute = try packet.decoded()
            guard let traffic = traffic(message.address, of: number) else { return }
            if type == .writeResponse, traffic.settlesOwed(message.handle) { return }
            guard traffic.requests.first?.answer == type else { return }
            answered(.success(Array(message.data)), message.handle, of: traffic)
        default: break
        }
    }

    /// A device or its proxy refuses something.
    func failed(_ message: APIAttributeError, from number: Int) {
        guard let traffic = traffic(message.address, of: number) else { return }
        guard let refusal = message.refusal else {
            return end(
                traffic.link,
                LinkError(.broken, "The device is not connected. It is connected again when it advertises."))
        }
        if traffic.settlesOwed(message.handle) { return }
        if traffic.link.resolved.value == nil, traffic.requests.isEmpty {
            traffic.link.resolved.fulfil(
                .failure(LinkError(.unreachable, "The services of the device cannot be read: \(refusal)")))
        }
        if refusal == .invalidHandle, let id = DeviceID(traffic.link.holder) { expected[id]?.known = nil }
        answered(.failure(.refused(refusal)), message.handle, of: traffic)
    }

    private func traffic(_ address: UInt64, of number: Int) -> LinkTraffic? {
        traffic[address].flatMap { $0.link.proxy == number ? $0 : nil }
    }

    private func answered(_ result: Result<[UInt8], GATTError>, _ handle: UInt32, of traffic: LinkTraffic) {
        guard let request = traffic.requests.first, request.isSent, UInt32(request.handle) == handle else { return }
        traffic.lastActivity = clock.uptime
        traffic.requests.removeFirst()
        request.result.fulfil(result)
        sendNext(of: traffic)
    }

    private func deliver(_ message: APIAttribute, to traffic: LinkTraffic) {
        guard let handle = UInt16(exactly: message.handle), let characteristic = traffic.subscriptions[handle] else {
            return
        }
        traffic.lastActivity = clock.uptime
        if traffic.link.values.add(GATTValue(characteristic: characteristic, bytes: Array(message.data))) {
            if characteristic.properties.contains(.indicate) { traffic.hasReportedRecords = true }
        } else {
            end(traffic.link, LinkError(.broken, "More values of the device waited than the gateway keeps."))
        }
    }
}
