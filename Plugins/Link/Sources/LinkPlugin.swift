public import GatewayKit

/// Devices, phones, bridges and programs in any language that speak Vitals Link (see `Protocol.md` beside the sources).
public struct LinkPlugin: Plugin {
    /// The folder's name.
    public static let name = "Link"
    /// Its purpose.
    public static let summary = "Devices and programs that speak Vitals Link: JSON-RPC lines over any byte stream"
    /// What its users can meet.
    public static let limits: [OperatorLimit] = [
        OperatorLimit("a line", bytes: LineSplitter.maximumLength, "the session ends", "a page of history fits"),
        OperatorLimit("pages and ids of a device", bytes: LinkToken.maximumLength, "refused", "they are stored"),
        OperatorLimit(
            "messages that a device logs in a second", count: DeviceLog.messagesPerSecond, "skipped and counted",
            "a stack trace fits"),
    ]
    /// The text of `sample.yaml`.
    public static let sample = String(decoding: PackageResources.sample_yaml, as: UTF8.self)
    /// The driver `link`.
    public static let drivers: [any DeviceDriver.Type] = [LinkDriver.self]
}
