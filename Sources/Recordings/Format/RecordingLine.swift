import GatewayKit
import JSON
import Vitals

/// A line of a recording, as its writer has it.
enum RecordingLine {
    /// The first line.
    case header(gateway: String, began: Timestamp)
    /// A link is open.
    case open(RecordedLink)
    /// Something happened on a link.
    case event(RecordedEvent, link: Int)
    /// Lines before this one are missing.
    case lost(Int, at: Duration)
    /// The last line.
    case stop(Recording.Stop, at: Duration)

    /// The line with its end.
    var bytes: [UInt8] {
        var writer = JSONWriter()
        writer.beginObject()
        switch self {
        case .header(let gateway, let began):
            writer.member("vitals2mqtt_recording", Recording.version)
            writer.member("gateway", gateway)
            writer.member("began", began.milliseconds)
        case .open(let link):
            writer.begin(link.opened, link.number, "open")
            writer.member("device", link.device.text)
            writer.member("driver", link.driver)
            writer.write(link.kind)
        case .event(let event, let link): writer.write(event, link)
        case .lost(let count, let at):
            writer.begin(at, nil, "lost")
            writer.member("lines", count)
        case .stop(let reason, let at):
            writer.begin(at, nil, "stop")
            writer.member("reason", reason.rawValue)
        }
        writer.endObject()
        writer.newline()
        return writer.bytes
    }
}

extension JSONWriter {
    fileprivate mutating func begin(_ at: Duration, _ link: Int?, _ event: String) {
        member("at", at.inMilliseconds)
        if let link { member("link", link) }
        member("event", event)
    }

    fileprivate mutating func write(_ kind: RecordedLink.Kind) {
        member("kind", kind.link.rawValue)
        guard case .gatt(let services, let payload) = kind else { return }
        member("payload", payload)
        member("services", array: services) { writer, service in
            writer.beginObject()
            writer.member("uuid", service.uuid.description)
            writer.member("characteristics", array: service.characteristics) { writer, characteristic in
                writer.beginObject()
                writer.member("uuid", characteristic.uuid.description)
                writer.member("handle", Int(characteristic.handle))
                writer.member("properties", Int(characteristic.properties.rawValue))
                writer.endObject()
            }
            writer.endObject()
        }
    }

    fileprivate mutating func write(_ event: RecordedEvent, _ link: Int) {
        switch event.content {
        case .sent(let bytes):
            begin(event.at, link, "sent")
            write(bytes)
        case .received(let bytes):
            begin(event.at, link, "received")
            write(bytes)
        case .call(let number, let call):
            begin(event.at, link, "call")
            member("call", number)
            write(call)
        case .answer(let number, let answer):
            begin(event.at, link, "answer")
            member("call", number)
            switch answer {
            case .done(let bytes): if !bytes.bytes.isEmpty { write(bytes) }
            case .failed(let error): write(error)
            }
        case .value(let handle, let bytes):
            begin(event.at, link, "value")
            member("handle", Int(handle))
            write(bytes)
        case .end(let end):
            begin(event.at, link, "end")
            switch end {
            case .byDevice: member("how", "device")
            case .byGateway: member("how", "gateway")
            case .broken(let error):
                member("how", "broken")
                write(.link(error))
            }
        }
    }

    private mutating func write(_ call: RecordedCall) {
        switch call {
        case .read(let handle):
            member("do", "read")
            member("handle", Int(handle))
        case .write(let handle, let bytes, let kind):
            member("do", "write")
            member("handle", Int(handle))
            member("response", kind == .withResponse)
            write(bytes)
        case .subscribe(let handle):
            member("do", "subscribe")
            member("handle", Int(handle))
        case .unsubscribe(let handle):
            member("do", "unsubscribe")
            member("handle", Int(handle))
        case .serve(let services):
            member("do", "serve")
            member("uuids", array: services) { writer, uuid in writer.string(uuid.description) }
        }
    }

    private mutating func write(_ bytes: RecordedBytes) {
        member("bytes", Hexadecimal.text(bytes.bytes))
        guard !bytes.masked.isEmpty else { return }
        member("masked", array: bytes.masked) { writer, range in
            writer.beginArray()
            writer.int(range.lowerBound)
            writer.int(range.count)
            writer.endArray()
        }
    }

    private mutating func write(_ error: GATTError) {
        member(
            "error",
            object: { writer in
                switch error {
                case .refused(let refusal): writer.member("att", Int(refusal.code))
                case .link(let error):
                    writer.member("link", error.code.rawValue)
                    writer.member("message", error.message)
                }
            })
    }
}
