import GatewayKit
import JSON
package import Vitals

extension Recording {
    /// Reads the recording at `path`.
    package init(path: String) throws(RecordingError) {
        let text: String
        do throws(TextFileError) { text = try TextFile.read(path, limit: LinkRecorder.maximumBytes) } catch {
            switch error {
            case .unreadable, .notText: throw .unreadable(path: path, reason: error.reason)
            case .tooLong(_, let limit): throw .tooLong(path: path, limit: limit)
            }
        }
        try self.init(Array(text.utf8), path: path)
    }

    /// Reads a recording from the bytes of the file at `path`.
    package init(_ bytes: [UInt8], path: String) throws(RecordingError) {
        var lines = bytes.split(separator: UInt8(ascii: "\n"), omittingEmptySubsequences: false).map { Array($0) }
        guard let first = lines.first, let header = try? JSONValue(parsing: first),
            let version = header["vitals2mqtt_recording"]?.asInt
        else { throw .noRecording(path: path) }
        guard version == Self.version else { throw .otherVersion(path: path, version) }
        guard let began = header["began"]?.asInt64 else {
            throw .damaged(path: path, line: 1, reason: "began is missing.")
        }
        // What follows the last end of a line is a line without end.
        guard lines.removeLast().isEmpty else { throw .torn(path: path, line: lines.count + 1) }
        var assembly = Assembly()
        for (index, line) in lines.enumerated().dropFirst() {
            let number = index + 1
            do throws(LineError) {
                try assembly.add(try RecordingLine(line, number: number))
            } catch { throw .damaged(path: path, line: number, reason: error.text) }
            if let lost = assembly.lost { throw .incomplete(path: path, line: number, lost: lost) }
        }
        self.init(
            began: Timestamp(milliseconds: began), links: assembly.links, stop: assembly.stop ?? .killed)
    }

    /// The links of a device, oldest first.
    /// - Throws: `foreign` if there is none.
    package func links(of device: DeviceID, path: String) throws(RecordingError) -> [RecordedLink] {
        let found = links.filter { $0.device == device }
        guard found.isEmpty else { return found }
        throw .foreign(path: path, device: device.text, known: Set(links.map(\.device.text)).sorted())
    }
}

/// Puts the lines of a recording together.
private struct Assembly {
    var links: [RecordedLink] = []
    var stop: Recording.Stop?
    var lost: Int?
    private var positions: [Int: Int] = [:]
    private var ended: Set<Int> = []
    private var last = Duration.zero

    mutating func add(_ line: RecordingLine) throws(LineError) {
        guard stop == nil else { throw LineError("The recording had ended before.") }
        switch line {
        case .header: throw LineError("A second recording begins here.")
        case .open(let link):
            try advance(to: link.opened)
            guard positions[link.number] == nil else { throw LineError("The link \(link.number) is opened twice.") }
            positions[link.number] = links.count
            links.append(link)
        case .event(let event, let number):
            try advance(to: event.at)
            guard let position = positions[number] else { throw LineError("The link \(number) was never opened.") }
            guard !ended.contains(number) else { throw LineError("The link \(number) had ended before.") }
            if case .end = event.content { ended.insert(number) }
            try check(event, links[position])
            links[position].events.append(event)
        case .lost(let count, let at):
            try advance(to: at)
            lost = count
        case .stop(let reason, let at):
            try advance(to: at)
            stop = reason
        }
    }

    private mutating func advance(to at: Duration) throws(LineError) {
        guard at >= last else { throw LineError("The time goes back.") }
        last = at
    }

    /// A stream has no calls, and a Bluetooth link no stream.
    private func check(_ event: RecordedEvent, _ link: RecordedLink) throws(LineError) {
        switch (event.content, link.kind) {
        case (.sent, .gatt), (.received, .gatt), (.call, .bytes), (.answer, .bytes), (.value, .bytes):
            throw LineError("The link \(link.number) is of another kind.")
        case (.value(let handle, _), .gatt(let services, _)):
            guard services.contains(where: { $0.characteristics.contains { $0.handle == handle } }) else {
                throw LineError("The device has no characteristic with the handle \(handle).")
            }
        default: break
        }
    }
}
