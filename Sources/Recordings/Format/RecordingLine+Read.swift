import GatewayKit
import JSON
import Vitals

/// Why a line of a recording is wrong, for a person.
struct LineError: Error {
    var text: String
    init(_ text: String) { self.text = text }
}

extension RecordingLine {
    /// Reads any line but the first. `number` is the line's in the file.
    init(_ bytes: [UInt8], number: Int) throws(LineError) {
        let object: JSONValue
        do throws(JSONError) { object = try JSONValue(parsing: bytes) } catch { throw LineError("\(error)") }
        let at = Duration.milliseconds(try object.number("at", in: 0...Self.longest))
        switch try object.text("event") {
        case "open":
            let name = try object.text("device")
            guard let device = DeviceID(name) else { throw LineError("\(name) is no id of a device.") }
            self = .open(
                RecordedLink(
                    number: try object.number("link", in: 1...Int.max), device: device,
                    driver: try object.text("driver"), kind: try object.kind(), opened: at))
        case "lost": self = .lost(try object.number("lines", in: 1...Int.max), at: at)
        case "stop":
            guard let reason = Recording.Stop(rawValue: try object.text("reason")), reason != .killed else {
                throw LineError("The reason is neither done nor limit.")
            }
            self = .stop(reason, at: at)
        case let word:
            let event = RecordedEvent(at: at, line: number, content: try object.content(word))
            self = .event(event, link: try object.number("link", in: 1...Int.max))
        }
    }

    /// The longest recording, in milliseconds: a year, so that no time overflows.
    private static let longest = 366 * 86_400_000
}

extension JSONValue {
    fileprivate func text(_ key: String) throws(LineError) -> String {
        guard let text = self[key]?.asString else { throw LineError("\(key) is missing, or no text.") }
        return text
    }

    fileprivate func number(_ key: String, in range: ClosedRange<Int>) throws(LineError) -> Int {
        guard let number = self[key]?.asInt, range.contains(number) else {
            throw LineError("\(key) is missing, or no whole number in its range.")
        }
        return number
    }

    private func list(_ key: String) throws(LineError) -> [JSONValue] {
        guard let list = self[key]?.asArray else { throw LineError("\(key) is missing, or no list.") }
        return list
    }

    private func handle() throws(LineError) -> UInt16 { UInt16(try number("handle", in: 0...0xffff)) }

    private func uuid() throws(LineError) -> BluetoothUUID {
        guard let uuid = BluetoothUUID(try text("uuid")) else { throw LineError("uuid is no identifier.") }
        return uuid
    }

    private func bytes() throws(LineError) -> RecordedBytes {
        guard let bytes = Hexadecimal.bytes(try text("bytes")) else {
            throw LineError("bytes must be pairs of hexadecimal digits.")
        }
        var ranges: [Range<Int>] = []
        for part in self["masked"]?.asArray ?? [] {
            guard let offset = part[0]?.asInt, let count = part[1]?.asInt, count > 0,
                offset >= ranges.last?.upperBound ?? 0, count <= bytes.count, offset <= bytes.count - count
            else { throw LineError("masked must list an offset and a count within the bytes, ascending.") }
            ranges.append(offset..<offset + count)
        }
        return RecordedBytes(bytes, masked: ranges)
    }

    fileprivate func kind() throws(LineError) -> RecordedLink.Kind {
        switch try text("kind") {
        case "bytes": return .bytes
        case "gatt":
            var services: [GATTService] = []
            for entry in try list("services") { services.append(try entry.service()) }
            return .gatt(services, maximumPayload: try number("payload", in: 20...0xffff))
        case let word: throw LineError("There is no kind of link \(word).")
        }
    }

    private func service() throws(LineError) -> GATTService {
        let service = try uuid()
        var characteristics: [GATTCharacteristic] = []
        for entry in try list("characteristics") {
            let properties = GATTProperties(rawValue: UInt8(try entry.number("properties", in: 0...0xff)))
            characteristics.append(
                GATTCharacteristic(
                    service: service, uuid: try entry.uuid(), handle: try entry.handle(), properties: properties))
        }
        return GATTService(uuid: service, characteristics: characteristics)
    }

    fileprivate func content(_ event: String) throws(LineError) -> RecordedEvent.Content {
        switch event {
        case "sent": return .sent(try bytes())
        case "received": return .received(try bytes())
        case "call": return .call(try number("call", in: 1...Int.max), try call())
        case "answer":
            let number = try number("call", in: 1...Int.max)
            if self["error"] != nil { return .answer(number, .failed(try failure())) }
            return .answer(number, .done(try self["bytes"] == nil ? RecordedBytes([]) : bytes()))
        case "value": return .value(try handle(), try bytes())
        case "end": return .end(try end())
        default: throw LineError("There is no event \(event).")
        }
    }

    private func call() throws(LineError) -> RecordedCall {
        switch try text("do") {
        case "read": return .read(try handle())
        case "write":
            let kind: GATTWrite = self["response"]?.asBool == true ? .withResponse : .withoutResponse
            return .write(try handle(), try bytes(), kind)
        case "subscribe": return .subscribe(try handle())
        case "unsubscribe": return .unsubscribe(try handle())
        case "serve":
            var services: [BluetoothUUID] = []
            for entry in try list("uuids") {
                guard let uuid = entry.asString.flatMap({ BluetoothUUID($0) }) else {
                    throw LineError("uuids has something that is no identifier.")
                }
                services.append(uuid)
            }
            return .serve(services)
        case let word: throw LineError("There is no call \(word).")
        }
    }

    private func end() throws(LineError) -> RecordedEnd {
        switch try text("how") {
        case "device": return .byDevice
        case "gateway": return .byGateway
        case "broken":
            guard case .link(let error) = try failure() else { throw LineError("error must be one of the link.") }
            return .broken(error)
        case let word: throw LineError("A link does not end by \(word).")
        }
    }

    private func failure() throws(LineError) -> GATTError {
        guard let error = self["error"] else { throw LineError("error is missing.") }
        if error["att"] != nil { return .refused(ATTError(code: UInt8(try error.number("att", in: 0...0xff)))) }
        guard let code = LinkError.Code(rawValue: try error.text("link")) else {
            throw LineError("The error has no known code.")
        }
        return .link(LinkError(code, try error.text("message")))
    }
}
