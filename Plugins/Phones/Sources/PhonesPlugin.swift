package import GatewayKit

/// Reads the documents of apps on phones and of scripts, and what others publish at the broker.
package enum PhonesPlugin: Plugin {
    /// The folder's name.
    package static let name = "Phones"
    package static let summary =
        "Reads what apps on phones and scripts push or publish (Health Auto Export, HC Webhook, Nightscout's uploaders), and values at the broker."
    /// The transports `mqtt`, for apps that publish, and `file`, for a phone of which only exports are read.
    package static let transports: [any Transport.Type] = [FileTransport.self, MQTTTransport.self]
    /// The drivers `documents`, `health-auto-export`, `health-connect-webhook`, `mqtt-values` and `nightscout`.
    package static let drivers: [any DeviceDriver.Type] = [
        PhoneDriver<HealthAutoExport>.self, PhoneDriver<HealthConnectWebhook>.self, PhoneDriver<ScriptDocument>.self,
        PhoneDriver<Nightscout>.self, ValuesDriver.self,
    ]
    package static let sources: (any SourceInspector.Type)? = AppleExportInspector.self
    package static let limits: [OperatorLimit] = [
        OperatorLimit("lists of a document", count: PhoneLimits.sections, "422", "ten times as many as apps have"),
        OperatorLimit(
            "sources of sleep", count: Nights.maximumSources, "further ones share one",
            "an app has one for each wearable"),
        OperatorLimit(
            "a tag of Apple's export", bytes: ElementParser.longestTag, "its record is skipped and counted",
            "a hundred times as many as a record has"),
        OperatorLimit(
            "types of records in Apple's export that are counted apart", count: AppleExport.maximumNames,
            "further ones count together", "HealthKit has some two hundred"),
        OperatorLimit(
            "message with values", bytes: ValuesDriver.maximumSize, "counted and logged once, not taken",
            "a hundred times as many as publishers send"),
        OperatorLimit(
            "messages with values that wait", count: ValuesDriver.maximumWaiting, "counted and logged, not taken",
            "the broker sends as many at once"),
        OperatorLimit(
            "parts in `except`", count: ValuesDriver.maximumExcept, "refused", "as many as have a device"),
        OperatorLimit(
            "texts of a condition", count: ValueRule.maximumTexts, "refused", "a device has few states"),
        OperatorLimit(
            "entries of each kind that an answer lists", count: DocumentReport.maximumEntries,
            "further ones are counted", "an answer stays below 100 KiB"),
        OperatorLimit(
            "a text in a script's document", bytes: PhoneLimits.text, "its entry is refused",
            "a name of 80 characters, each of them escaped"),
    ]
    /// The text of `sample.yaml`.
    package static let sample = String(decoding: PackageResources.sample_yaml, as: UTF8.self)
}
