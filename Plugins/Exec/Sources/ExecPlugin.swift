package import GatewayKit

/// Connects the gateway with programs that act for a device.
package enum ExecPlugin: Plugin {
    /// The folder's name.
    package static let name = "Exec"
    package static let summary = "Starts a program and speaks with it over its standard input and output."
    /// The transport `exec`.
    package static let transports: [any Transport.Type] = [ExecTransport.self]
    /// The text of `sample.yaml`; a test compares the two.
    package static let sample = """
        # A program that speaks for a device on its standard input and output.
        devices:
          - id: band-1
            name: Anna's band
            driver: link
            transport:
              type: exec
              command: [/usr/local/bin/band-bridge, --address, "AA:BB:CC:DD:EE:FF"]
              directory: /var/lib/band-bridge    # where it runs; the gateway's own directory when left out
              environment:                       # beside PATH, HOME, LANG and TZ, which it always gets
                BAND_MODEL: "2"
              # What each of its processes may use; without limits when left out. `processes` counts all processes and threads of the
              # gateway's user, and does nothing for root.
              limits: {memory: 128MiB, descriptors: 64, processes: 200}

        """
}
