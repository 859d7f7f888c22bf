import GatewayKit

/// A stream that is played from a recording.
struct ReplayedByteLink: ByteLink {
    private let playback: Playback

    init(_ playback: Playback) { self.playback = playback }

    func read(atMost limit: Int) async throws(LinkError) -> [UInt8] { try await playback.read(atMost: limit) }

    func write(_ bytes: [UInt8]) async throws(LinkError) { try playback.write(bytes) }
}
