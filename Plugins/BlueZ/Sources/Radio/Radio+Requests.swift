import Concurrency
import GatewayKit
import Logging
import Vitals

/// Requests to devices that are connected.
extension Radio {
    /// How long a device may take for an answer: the Attribute Protocol ends the connection after 30 s (Bluetooth Core Specification,
    /// Vol 3, Part F, 3.3.3), which BlueZ reports.
    static let requestTime: Duration = .seconds(35)

    func read(_ characteristic: GATTCharacteristic, of link: OpenLink) async throws(GATTError) -> [UInt8] {
        let (traffic, path) = try find(characteristic, of: link, [.read], else: .readNotPermitted)
        if characteristic == .battery {
            guard let percent = tree[path, BlueZ.battery]?["Percentage"]?.number else { throw .refused(.invalidHandle) }
            return [UInt8(clamping: percent)]
        }
        let answer = try await request(path, "ReadValue", [.options()], of: traffic) {
            traffic.beginReading(path)
        } after: {
            traffic.endReading((try? $0.get())?.first?.data)
        }
        guard let bytes = answer.first?.data else { throw .link(LinkError(.broken, "BlueZ answers without a value.")) }
        return bytes
    }

    func write(
        _ bytes: [UInt8], to characteristic: GATTCharacteristic, _ kind: GATTWrite, of link: OpenLink, limit: Int
    ) async throws(GATTError) {
        let property: GATTProperties = kind == .withResponse ? .write : .writeWithoutResponse
        let (traffic, path) = try find(characteristic, of: link, [property], else: .writeNotPermitted)
        guard bytes.count <= limit else { throw .refused(.invalidLength) }
        let type = kind == .withResponse ? "request" : "command"
        _ = try await request(path, "WriteValue", [.bytes(bytes), .options(["type": .string(type)])], of: traffic)
    }

    func subscribe(to characteristic: GATTCharacteristic, of link: OpenLink) async throws(GATTError) {
        if hasOnlyRecords(link) { return }
        let (traffic, path) = try find(characteristic, of: link, [.notify, .indicate], else: .requestNotSupported)
        guard traffic.subscriptions[path] == nil else { return }
        if characteristic == .battery {
            traffic.subscriptions[path] = characteristic
            return
        }
        do throws(GATTError) {
            // Not `AcquireNotify`: with a socket for each characteristic, their values would lose their common order.
            // Values may come before the answer.
            _ = try await request(path, "StartNotify", [], of: traffic) { [logger] in
                guard traffic.beginSubscription(to: characteristic, path) else { return }
                logger.error(
                    "Records that the device sent before its subscription are lost; there were too many.",
                    metadata: ["characteristic": "\(characteristic.uuid)", "kept": "\(LinkTraffic.mostEarlyValues)"])
            }
        } catch {
            if case .refused = error { traffic.subscriptions[path] = nil }
            if hasOnlyRecords(link) { return }
            throw error
        }
    }

    /// Whether a link is over and has records left, which the device has deleted. A subscription then still succeeds, so that they are
    /// read before the end of the link is reported.
    private func hasOnlyRecords(_ link: OpenLink) -> Bool {
        guard link.ended.value != nil, let traffic = links[link.path] else { return false }
        return traffic.link === link && traffic.hasReportedRecords
    }

    func unsubscribe(from characteristic: GATTCharacteristic, of link: OpenLink) async throws(GATTError) {
        let (traffic, path) = try find(characteristic, of: link, [.notify, .indicate], else: .requestNotSupported)
        guard traffic.subscriptions[path] != nil else { return }
        if characteristic != .battery { _ = try await request(path, "StopNotify", [], of: traffic) }
        traffic.subscriptions[path] = nil
    }

    func signalStrength(of link: OpenLink) -> Int? { tree[link.path, BlueZ.device]?["RSSI"]?.number }

    /// The object of a characteristic that has one of these properties.
    private func find(
        _ characteristic: GATTCharacteristic, of link: OpenLink, _ properties: GATTProperties, else refusal: ATTError
    ) throws(GATTError) -> (LinkTraffic, String) {
        if let end = link.ended.value { throw .link(end) }
        guard let traffic = links[link.path], traffic.link === link else {
            throw .link(LinkError(.broken, "The connection is over."))
        }
        guard let path = traffic.objects[characteristic.handle] else { throw .refused(.invalidHandle) }
        guard !characteristic.properties.isDisjoint(with: properties) else { throw .refused(refusal) }
        return (traffic, path)
    }

    /// Sends a request when those before are answered. `before` is called when it is sent, `after` when its answer arrives, in the
    /// order of the messages. Cancelling the wait does not cancel the request.
    private func request(
        _ path: String, _ member: String, _ arguments: [BusValue], of traffic: LinkTraffic,
        before: @escaping () -> Void = {}, after: @escaping (Bus.Result) -> Void = { _ in }
    ) async throws(GATTError) -> [BusValue] {
        let (answer, link) = (Promise<Bus.Result>(), traffic.link)
        let givenUp = Promise<Void>()
        traffic.enqueue { [self] in
            func end(_ result: Bus.Result) {
                after(result)
                traffic.lastActivity = clock.uptime
                answer.fulfil(result)
                traffic.finished()
            }
            guard givenUp.value == nil, let bus, let owner else { return end(.failure(.cancelled)) }
            before()
            do throws(BusError) {
                _ = try bus.send(
                    to: owner, path, BlueZ.characteristic, member, arguments, timeout: Self.requestTime, end)
            } catch { end(.failure(error)) }
        }
        let result: Bus.Result?
        do { result = try await first(answer, or: link.ended) } catch {
            givenUp.fulfil(())
            throw .link(LinkError(.cancelled, "The gateway no longer waits for the device."))
        }
        guard let result else { throw .link(link.ended.value ?? LinkError(.broken, "The connection is over.")) }
        do throws(BusError) { return try result.get() } catch {
            if let end = link.ended.value { throw .link(end) }
            throw GATTError(error)
        }
    }

    /// The answer, or `nil` if the link ends before.
    private func first(
        _ answer: Promise<Bus.Result>, or end: Promise<LinkError>
    ) async throws(CancellationError) -> Bus.Result? {
        let result = await race(against: {
            _ = try await end.wait()
        }) { try? await answer.wait() }
        if Task.isCancelled, answer.value == nil { throw CancellationError() }
        return answer.value ?? result ?? nil
    }
}
