package import GatewayKit

/// Reads the documents of apps on phones.
package enum PhonesPlugin: Plugin {
    /// The folder's name.
    package static let name = "Phones"
    package static let summary = "Reads what apps on phones push: Health Auto Export, HC Webhook."
    /// The drivers `health-auto-export` and `health-connect-webhook`.
    package static let drivers: [any DeviceDriver.Type] = [
        PhoneDriver<HealthAutoExport>.self, PhoneDriver<HealthConnectWebhook>.self,
    ]
    /// The text of `sample.yaml`; a test compares the two.
    package static let sample = """
        # What an app on a phone pushes. Its posts need the token of its transport, or an account at the broker.
        devices:
          - id: annas-iphone
            name: Anna's iPhone
            driver: health-auto-export
            #options: {metrics: [heart_rate, steps, sleep]}   # all that the app has, when left out
            offline_after: 26h        # it pushes when it likes
            transport: {type: http, token: {env: ANNAS_PHONE}}
          - id: bens-phone
            name: Ben's phone
            driver: health-connect-webhook
            offline_after: 26h
            transport: {type: http, token: {env: BENS_PHONE}}

        """
}
