import GatewayKit
import JSON
package import Vitals

extension Recording {
    /// Reads the recording at `path`.
    package init(path: String) throws(RecordingError) {
        try self.init(Array(try Self.text(of: path).utf8), path: path)
    }

    /// Sees whether the file at `path` begins as a recording and has links of a device, whatever happened on them.
    /// - Parameter device: `nil` for any.
    package static func check(_ path: String, for device: DeviceID?) throws(RecordingError) {
        let text = try Self.text(of: path)
        let lines = text.utf8.split(separator: UInt8(ascii: "\n"))
        _ = try began(lines.first.map { Array($0) } ?? [], path: path)
        guard let device else { return }
        for line in lines.dropFirst() where opens(line) {
            // What is damaged is told when it is played.
            if case .open(let link)? = try? RecordingLine(Array(line), number: 0), link.device == device { return }
        }
        // It has none, or was written by a hand.
        _ = try Recording(Array(text.utf8), path: path).links(of: device, path: path)
    }

    /// Whether a line is that of an opened link, as the gateway writes it. Most are not, and are not read as JSON.
    private static func opens(_ line: Substring.UTF8View) -> Bool {
        Substring(line.prefix(openingPlace)).contains("\"open\"")
    }

    /// In how many bytes of a line its event is named: `at` and `link` come before, with at most 40 digits.
    private static let openingPlace = 100

    private static func text(of path: String) throws(RecordingError) -> String {
        do throws(TextFileError) { return try TextFile.read(path, limit: LinkRecorder.maximumBytes) } catch {
            switch error {
            case .unreadable, .notText: throw .unreadable(path: path, reason: error.reason)
            case .tooLong(_, let limit): throw .tooLong(path: path, limit: limit)
            }
        }
    }

    /// When a recording began, by its first line.
    private static func began(_ first: [UInt8], path: String) throws(RecordingError) -> Timestamp {
        guard let header = try? JSONValue(parsing: first), let version = header["vitals2mqtt_recording"]?.asInt
        else { throw .noRecording(path: path) }
        guard version == Self.version else { throw .otherVersion(path: path, version) }
        guard let began = header["began"]?.asInt64 else {
            throw .damaged(path: path, line: 1, reason: "began is missing.")
        }
        return Timestamp(milliseconds: began)
    }

    /// Reads a recording from the bytes of the file at `path`.
    package init(_ bytes: [UInt8], path: String) throws(RecordingError) {
        var lines = bytes.split(separator: UInt8(ascii: "\n"), omittingEmptySubsequences: false).map { Array($0) }
        let began = try Self.began(lines.first ?? [], path: path)
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
            began: began, links: assembly.links, stop: assembly.stop ?? .killed)
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
