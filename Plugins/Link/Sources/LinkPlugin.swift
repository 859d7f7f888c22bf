public import GatewayKit

/// Devices, phones, bridges and programs in any language that speak Vitals Link (see `Protocol.md` beside the sources).
public struct LinkPlugin: Plugin {
    /// The folder's name.
    public static let name = "Link"
    /// Its purpose.
    public static let summary = "Devices and programs that speak Vitals Link: JSON-RPC lines over any byte stream"
    /// The text of `sample.yaml`.
    public static let sample = String(decoding: PackageResources.sample_yaml, as: UTF8.self)
    /// The driver `link`.
    public static let drivers: [any DeviceDriver.Type] = [LinkDriver.self]
}
