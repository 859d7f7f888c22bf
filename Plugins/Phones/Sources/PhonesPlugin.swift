package import GatewayKit

/// Reads the documents of apps on phones.
package enum PhonesPlugin: Plugin {
    /// The folder's name.
    package static let name = "Phones"
    package static let summary = "Reads what apps on phones push or publish: Health Auto Export, HC Webhook."
    /// The transport `mqtt`, for apps that publish.
    package static let transports: [any Transport.Type] = [MQTTTransport.self]
    /// The drivers `health-auto-export` and `health-connect-webhook`.
    package static let drivers: [any DeviceDriver.Type] = [
        PhoneDriver<HealthAutoExport>.self, PhoneDriver<HealthConnectWebhook>.self,
    ]
    package static let limits: [OperatorLimit] = [
        OperatorLimit("lists of a document", count: PhoneLimits.sections, "422", "ten times as many as apps have"),
        OperatorLimit(
            "sources of sleep", count: Nights.maximumSources, "further ones share one",
            "an app has one for each wearable"),
    ]
    /// The text of `sample.yaml`.
    package static let sample = String(decoding: PackageResources.sample_yaml, as: UTF8.self)
}
