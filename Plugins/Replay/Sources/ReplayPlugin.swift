package import GatewayKit

/// Plays recorded devices again.
package enum ReplayPlugin: Plugin {
    /// The folder's name.
    package static let name = "Replay"
    package static let summary = "Plays a recorded device again, for bug reports and tests."
    /// The transport `replay`.
    package static let transports: [any Transport.Type] = [ReplayTransport.self]
    /// The text of `sample.yaml`; a test compares the two.
    package static let sample = """
        # A device that says again what it said while `run --record` wrote a recording.
        devices:
          - id: band-1
            driver: link
            transport:
              type: replay
              path: band.recording  # beside this file
              # device: band-1      # whose part of the recording; the id of this entry when left out
              # speed: 1            # 1 to 1000 times as fast, or max: without any pause
              # compare: tolerant   # tolerant, exact, clocks, length or none: how what the gateway does must match

        """
}
