package import GatewayKit

/// Wearables whose records the phone app Gadgetbridge exports.
package enum GadgetbridgePlugin: Plugin {
    package static let name = "Gadgetbridge"
    package static let summary = "Wearables that the phone app Gadgetbridge reads, by the files that it exports."
    package static let drivers: [any DeviceDriver.Type] = [GadgetbridgeDriver.self]
    package static let service: (any PluginService.Type)? = ExportFolders<GadgetbridgeOptions>.self
    package static let sources: (any SourceInspector.Type)? = ExportInspector<GadgetbridgeOptions>.self
    package static let limits: [OperatorLimit] = [
        OperatorLimit(
            "stillness of a new export", time: ExportWatch.stillness, "a file that changes is checked again",
            "a file that still grows is torn"),
        OperatorLimit(
            "wait for a first export that changes", time: ExportSource.timeout, "the session fails and is tried again",
            "it may be written just now"),
        OperatorLimit(
            "late rows without notes of the driver", time: ExportSource.lateness, "`sync` with `from` reads older ones",
            "all rows would be compared"),
        OperatorLimit("an export in a zip", bytes: ZipLimits.uncompressed, "refused", "a zip must not fill the disk"),
        OperatorLimit(
            "a sleep", time: NightLimits.night, "skipped and counted", "a wearable in a drawer counts as asleep"),
        OperatorLimit(
            "sleeps of a day of an export", count: NightLimits.perDay, "the others count as `too_many` in `D/sync`",
            "nobody falls asleep more often than once an hour"),
    ]
    /// The text of `gadgetbridge.yaml`.
    package static let sample = String(decoding: PackageResources.gadgetbridge_yaml, as: UTF8.self)
}
