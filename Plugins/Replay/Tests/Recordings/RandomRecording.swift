import GatewayKit
import Testing
import Vitals

@testable import Recordings

/// Recordings of any content, by a seed.
enum RandomRecording {
    /// A recording of up to four links.
    static func make(_ random: inout SplitMix64) throws -> Recording {
        var links: [RecordedLink] = []
        var line = 2
        for number in 1...Int.random(in: 1...4, using: &random) {
            let device = try #require(DeviceID("device-\(number)"))
            let isStream = Bool.random(using: &random)
            var at = Duration.milliseconds(Int.random(in: 0...1_000, using: &random))
            var link = RecordedLink(
                number: number, device: device, driver: "driver", kind: isStream ? .bytes : gatt, opened: at)
            line += 1
            for call in 1...Int.random(in: 1...30, using: &random) {
                at += .milliseconds(Int.random(in: 0...100, using: &random))
                let content = isStream ? stream(&random) : bluetooth(call, &random)
                link.events.append(RecordedEvent(at: at, line: line, content: content))
                line += 1
            }
            if Bool.random(using: &random) {
                link.events.append(RecordedEvent(at: at, line: line, content: .end(end(&random))))
                line += 1
            }
            links.append(link)
        }
        let stops: [Recording.Stop] = [.done, .limit, .killed]
        return Recording(
            began: Timestamp(milliseconds: 1_767_225_600_000), links: links,
            stop: stops.randomElement(using: &random) ?? .done)
    }

    private static let gatt: RecordedLink.Kind = {
        let service = BluetoothUUID(0x180d)
        let characteristics = (1...3).map { handle in
            GATTCharacteristic(
                service: service, uuid: BluetoothUUID(0x2a30 + UInt16(handle)), handle: UInt16(handle),
                properties: GATTProperties(rawValue: 0x1a))
        }
        return .gatt([GATTService(uuid: service, characteristics: characteristics)], maximumPayload: 244)
    }()

    private static func bytes(_ random: inout SplitMix64) -> RecordedBytes {
        let bytes = (0..<Int.random(in: 1...40, using: &random)).map { _ in UInt8.random(in: 0...255, using: &random) }
        let start = Int.random(in: 0..<bytes.count, using: &random)
        let end = Int.random(in: start...bytes.count, using: &random)
        return RecordedBytes(bytes, masked: start < end ? [start..<end] : [])
    }

    private static func error(_ random: inout SplitMix64) -> LinkError {
        LinkError(.broken, ["gone", "line\nfeed", "Zoë \"x\" \u{0}\u{1F600}"].randomElement(using: &random) ?? "")
    }

    private static func end(_ random: inout SplitMix64) -> RecordedEnd {
        [.byDevice, .byGateway, .broken(error(&random))].randomElement(using: &random) ?? .byDevice
    }

    private static func stream(_ random: inout SplitMix64) -> RecordedEvent.Content {
        Bool.random(using: &random) ? .sent(bytes(&random)) : .received(bytes(&random))
    }

    private static func bluetooth(_ call: Int, _ random: inout SplitMix64) -> RecordedEvent.Content {
        let handle = UInt16.random(in: 1...3, using: &random)
        switch Int.random(in: 0..<9, using: &random) {
        case 0: return .call(call, .read(handle))
        case 1: return .call(call, .write(handle, bytes(&random), .withResponse))
        case 2: return .call(call, .write(handle, bytes(&random), .withoutResponse))
        case 3: return .call(call, .subscribe(handle))
        case 4: return .call(call, .unsubscribe(handle))
        case 5: return .call(call, .serve([BluetoothUUID(0x1805)]))
        case 6: return .answer(call, .done(bytes(&random)))
        case 7:
            let refused = GATTError.refused(ATTError(code: .random(in: 1...255, using: &random)))
            return .answer(call, .failed(Bool.random(using: &random) ? refused : .link(error(&random))))
        default: return .value(handle, bytes(&random))
        }
    }
}
