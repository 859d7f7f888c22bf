import GatewayKit
import Vitals

/// A receipt whose sample was refused, or goes to the store.
struct CheckedReceipt {
    var receipt: SampleReceipt
    /// Why the sample does not go to the store.
    var refusal: DeviceError?
    /// The sample's place among those that go to the store.
    var place: Int

    /// What to report to the device once the store has the samples.
    /// - Parameter novelties: what the store found, for each sample that went there.
    func settled(by novelties: [SampleOutcome.Novelty]) -> SettledReceipt {
        if let refusal { return SettledReceipt(receipt, .refused(refusal)) }
        guard novelties.indices.contains(place) else { return SettledReceipt(receipt, .known) }
        return switch novelties[place] {
        case .new: SettledReceipt(receipt, .new)
        case .corrected: SettledReceipt(receipt, .corrected)
        case .withdrawn: SettledReceipt(receipt, .superseded)
        case .known: SettledReceipt(receipt, .known)
        }
    }
}
