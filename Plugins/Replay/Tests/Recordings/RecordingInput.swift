import GatewayKit
import Vitals

@testable import Recordings

/// What must hold for the reader of recordings, for any bytes. The fuzzer checks it with endless inputs, the tests with changed ones.
enum RecordingInput {
    /// What is wrong after these bytes of a file. A trap is an error of its own.
    static func issues(in bytes: [UInt8]) -> [String] {
        let recording: Recording
        do { recording = try Recording(bytes, path: "file") } catch {
            return "\(error)".contains("file") ? [] : ["\(error) does not name the file"]
        }
        do {
            let again = try Recording(text(of: recording), path: "file")
            return unnumbered(again) == unnumbered(recording) ? [] : ["\(recording) was read as \(again)"]
        } catch { return ["\(recording) is refused when it is written again: \(error)"] }
    }

    /// The file of a recording. Lines that are alike in time stay in their order, and a link opens as late as it may.
    static func text(of recording: Recording) -> [UInt8] {
        var lines: [(at: Duration, place: Int, line: RecordingLine)] = []
        for link in recording.links {
            let first = link.events.first?.line ?? .max
            // Events keep their lines; an opening comes just before the link's first event.
            lines.append((link.opened, first == .max ? .max : first * 2 - 1, .open(link)))
            for event in link.events { lines.append((event.at, event.line * 2, .event(event, link: link.number))) }
        }
        lines.sort { ($0.at, $0.place) < ($1.at, $1.place) }
        var bytes = RecordingLine.header(gateway: "1", began: recording.began).bytes
        for line in lines { bytes += line.line.bytes }
        guard recording.stop != .killed else { return bytes }
        return bytes + RecordingLine.stop(recording.stop, at: lines.last?.at ?? .zero).bytes
    }

    /// A recording without the numbers of its lines, and its links in the order of their numbers.
    static func unnumbered(_ recording: Recording) -> Recording {
        var recording = recording
        recording.links.sort { $0.number < $1.number }
        for index in recording.links.indices {
            for event in recording.links[index].events.indices { recording.links[index].events[event].line = 0 }
        }
        return recording
    }
}
