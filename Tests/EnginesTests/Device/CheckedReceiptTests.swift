import GatewayKit
import Testing
import Vitals

@testable import Engines

@Suite struct CheckedReceiptTests {
    private static let receipt = SampleReceipt("1")

    @Test(
        arguments: [
            (.new, .new), (.corrected, .corrected), (.known, .known), (.withdrawn, .superseded),
        ] as [(SampleOutcome.Novelty, SettledReceipt.Outcome)])
    func `a device receives what the store found, and of a record that does not count that it is superseded`(
        novelty: SampleOutcome.Novelty, outcome: SettledReceipt.Outcome
    ) {
        let receipt = CheckedReceipt(receipt: Self.receipt, refusal: nil, place: 1)
        // Each receipt has the place of its own sample.
        let other: SampleOutcome.Novelty = novelty == .new ? .known : .new
        #expect(receipt.settled(by: [other, novelty, other]) == SettledReceipt(Self.receipt, outcome))
    }

    @Test func `a refused sample is reported as such, whatever became of those that went to the store`() {
        let refusal = DeviceError(.invalid, "too high")
        let receipt = CheckedReceipt(receipt: Self.receipt, refusal: refusal, place: 0)
        #expect(receipt.settled(by: [.new]) == SettledReceipt(Self.receipt, .refused(refusal)))
    }
}
