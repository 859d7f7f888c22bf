public import GatewayKit

/// Devices, phones, bridges and programs in any language that speak Vitals Link (see `Protocol.md` beside the sources).
public struct LinkPlugin: Plugin {
    /// The folder's name.
    public static let name = "Link"
    /// Its purpose.
    public static let summary = "Devices and programs that speak Vitals Link: JSON-RPC lines over any byte stream"
    /// The text of `sample.yaml`.
    public static let sample = """
        # A device, phone or program that speaks Vitals Link, here over TCP. A child process needs
        # `transport: {type: exec, command: [program, argument]}` instead.
        - id: band-1
          name: Anna's band
          person: anna
          driver: link
          transport: {type: tcp, host: 127.0.0.1, port: 7878}
          # What the program wants to know. It gets these keys as `options` of `initialize`.
          options:
            address: "C0:FF:EE:00:00:01"
            keep_awake: true

        """
    /// The driver `link`.
    public static let drivers: [any DeviceDriver.Type] = [LinkDriver.self]
}
