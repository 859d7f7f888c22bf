package import GatewayKit

/// Takes documents that devices publish at the gateway's broker.
package enum MQTTDocumentsPlugin: Plugin {
    /// The folder's name.
    package static let name = "MQTTDocuments"
    package static let summary = "Takes the documents that phones publish at the gateway's broker."
    /// The transport `mqtt`.
    package static let transports: [any Transport.Type] = [MQTTTransport.self]
    /// The text of `sample.yaml`; a test compares the two.
    package static let sample = """
        # A phone whose app publishes its values at the gateway's broker.
        devices:
          - id: annas-iphone
            name: Anna's iPhone
            driver: health-auto-export
            offline_after: 26h        # it publishes when it likes
            transport: {type: mqtt, topic: phones/anna}

        """
}
