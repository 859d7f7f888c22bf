package import GatewayKit
package import Vitals

extension DeviceEvent {
    /// The samples of an event, with the receipts for them; `nil` if it is another one.
    package var asSamples: (samples: [Sample], receipts: [SampleReceipt])? {
        if case .samples(let samples, let receipts) = self { (samples: samples, receipts: receipts) } else { nil }
    }
}
