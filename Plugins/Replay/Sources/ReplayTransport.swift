import Concurrency
package import GatewayKit
import Recordings
import Synchronization
import Vitals

/// Plays the device's side of a recording. Each link that is opened is the next one of the device in the recording.
package struct ReplayTransport: Transport {
    /// `type: replay`.
    package static let name = "replay"
    package static let link = LinkKind.bytes
    /// What a recording can have.
    package static let links: Set<LinkKind> = [.bytes, .gatt]
    /// The recording, while it is read.
    package static let descriptors = 1

    /// The fastest speed with pauses.
    static let fastest = 1_000

    private let path: String
    private let device: String?
    private let speed: Speed
    private let comparison: Comparison
    private let progress = Progress()

    /// Reads files, which blocks.
    private static let files = BlockingQueue(label: "replay")

    /// The device's links, once they are read, and how many were played.
    private final class Progress: Sendable {
        let played = Mutex(0)
        let source = Mutex<(links: [RecordedLink], stop: Recording.Stop)?>(nil)
    }

    /// Reads `path`, `device`, `speed` and `compare`.
    package init(options: inout ConfigurationReader) {
        let errors = options.issues.count
        path = options.readableFile("path", about: "The recording.")
        let isThere = options.issues.count == errors
        device = options.optionalString("device", about: "The id that the device had; without it this one's.")
        if let device, DeviceID(device) == nil {
            options.report("The id of a device is needed here, as it was when the recording was made.", at: "device")
        }
        if isThere {
            do throws(RecordingError) { try Recording.check(path, for: device.flatMap { DeviceID($0) }) } catch {
                options.report(error.description, at: error.isOfDevice ? "device" : "path")
            }
        }
        if case .scalar("max", _)? = options.value("speed")?.content {
            speed = .maximum
        } else {
            speed = .times(
                options.integer(
                    "speed", in: 1...Self.fastest, default: 1,
                    about: "How many times as fast; or max: without any pause."))
        }
        comparison = options.choice(
            "compare", of: Comparison.self, default: .tolerant,
            about: "Whether the gateway must do exactly what it did when the recording was made.")
    }

    /// Opens the device's next link of the recording.
    ///
    /// It ends when the recorded one ended. After the last one, links are `unreachable`.
    package func withLink(context: LinkContext, _ body: @Sendable (Link) async throws -> Void) async throws {
        let device = device.flatMap { DeviceID($0) } ?? context.device
        let (links, stop) = try await source(of: device)
        // One of another kind stays the next one, until its driver comes.
        let next = progress.played.withLock { played -> RecordedLink? in
            guard played < links.count else { return nil }
            let link = links[played]
            if context.kind == nil || context.kind == link.kind.link { played += 1 }
            return link
        }
        guard let recorded = next else { throw LinkError(.unreachable, over(device, links.count, stop)) }
        if let wanted = context.kind, wanted != recorded.kind.link {
            throw LinkError(
                .unreachable,
                "\(path) has a link of \(recorded.kind.link.rawValue) with \(device), recorded with the driver "
                    + "\(recorded.driver); this driver needs \(wanted.rawValue).")
        }
        if recorded.kind == .bytes, comparison == .tolerant, let script = CallScript(recorded) {
            let link = ConversationLink(script, speed: speed, clock: context.clock, logger: context.logger)
            defer { link.close() }
            return try await body(.bytes(link))
        }
        let playback = Playback(recorded, path: path, speed: speed, comparison: comparison, clock: context.clock)
        defer { playback.close() }
        switch recorded.kind {
        case .bytes: try await body(.bytes(ReplayedByteLink(playback)))
        case .gatt(let services, let payload):
            try await body(.gatt(ReplayedGATTLink(playback, services: services, maximumPayload: payload)))
        }
    }

    /// The device's links. The file is read once.
    private func source(of device: DeviceID) async throws(LinkError) -> ([RecordedLink], Recording.Stop) {
        if let known = progress.source.withLock({ $0 }) { return known }
        do {
            let path = self.path
            let recording = try await Self.files.run { try Recording(path: path) }
            let links = try recording.links(of: device, path: path)
            progress.source.withLock { $0 = (links, recording.stop) }
            return (links, recording.stop)
        } catch { throw LinkError(.unreachable, "\(error)") }
    }

    private func over(_ device: DeviceID, _ count: Int, _ stop: Recording.Stop) -> String {
        let reason =
            switch stop {
            case .done: "the gateway ended then"
            case .limit: "the file had reached its size then"
            case .killed: "the gateway was killed then"
            }
        return "\(path) is over: all \(count) links of \(device) were played, and \(reason). "
            + "Restart the gateway with a new store to play it again: what a store has is not new."
    }
}

/// How fast a recording is played.
enum Speed: Sendable, Hashable {
    /// So many times as fast as it was.
    case times(Int)
    /// Without any pause.
    case maximum

    /// A recorded time at this speed.
    func scaled(_ time: Duration) -> Duration {
        switch self {
        case .times(let factor): time / factor
        case .maximum: .zero
        }
    }
}
