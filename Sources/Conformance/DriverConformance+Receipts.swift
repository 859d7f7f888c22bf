import GatewayKit
import Vitals

extension DriverConformance {
    /// Checks that a device is informed that a sample is durable when it is, and not earlier; and that it is informed
    /// of a refusal.
    func checkReceipts() async -> [Violation] {
        await session(.receipts, takesEvents: true) { session, peer, violations in
            guard let sendSafeSamples = peer.sendSafeSamples else { return }
            let sent = await sendSafeSamples()
            guard peer.deviceCalls != nil, sent.count >= 3 else {
                violations.add("the peer should send three safe samples, and say what it received for them.")
                return
            }
            let events = EventReader(session, violations)
            var receipts: [Sample: SampleReceipt] = [:]
            while !sent.allSatisfy({ receipts[$0.sample] != nil }) {
                let event = try await self.inTime("waiting for safe samples") { try await events.next() }
                guard let event else {
                    violations.add("the events ended before all safe samples had come.")
                    return
                }
                guard case .samples(let samples, let marks) = event, let sample = samples.first,
                    sent.contains(where: { $0.sample == sample })
                else { continue }
                guard let mark = marks.first else {
                    violations.add("a sample came without the receipt that its device waits for.")
                    return
                }
                receipts[sample] = mark
            }
            // One refused, one unanswered, one durable: a driver that already answered by itself has answered wrongly.
            let (refused, last) = (sent[0], sent[sent.count - 1])
            let refusal = DeviceError(.invalid, "A sample that the suite refuses.")
            for (sample, refusal) in [(refused, refusal), (last, nil)] {
                guard let receipt = receipts[sample.sample] else { continue }
                try await self.inTime("settling") { try await session.settle([SettledReceipt(receipt, refusal)]) }
            }
            await self.expectCall("the refusal of a sample", peer, violations) {
                $0.contains(.settled(refused.name, isDurable: false))
            }
            await self.expectCall("the confirmation that a sample is durable", peer, violations) {
                $0.contains(.settled(last.name, isDurable: true))
            }
            let deviceCalls = try await peer.deviceCalls?({ _ in true }) ?? []
            violations.expect(
                !deviceCalls.contains(.settled(refused.name, isDurable: true)),
                "the device received the confirmation that a refused sample is durable.")
            for sample in sent[1..<(sent.count - 1)] {
                violations.expect(
                    !deviceCalls.contains { if case .settled(sample.name, _) = $0 { true } else { false } },
                    "the device got a receipt for a sample that the gateway has not settled.")
            }
        }
    }
}
