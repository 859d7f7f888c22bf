import GatewayKit

/// A stream whose bytes are recorded.
struct RecordedByteLink: ByteLink {
    private let link: any ByteLink
    private let track: LinkTrack

    init(_ link: any ByteLink, _ track: LinkTrack) {
        self.link = link
        self.track = track
    }

    func read(atMost limit: Int) async throws(LinkError) -> [UInt8] {
        do {
            let bytes = try await link.read(atMost: limit)
            if bytes.isEmpty { track.end(.byDevice) } else { track.received(bytes) }
            return bytes
        } catch {
            if error.code != .cancelled { track.end(.broken(error)) }
            throw error
        }
    }

    func write(_ bytes: [UInt8]) async throws(LinkError) {
        // Recorded first: the device may answer before the write returns.
        track.sent(bytes)
        do { try await link.write(bytes) } catch {
            if error.code != .cancelled { track.end(.broken(error)) }
            throw error
        }
    }
}
