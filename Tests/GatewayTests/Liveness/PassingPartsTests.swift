import Concurrency
import GatewayTesting
import TestSupport
import Testing
import Vitals

@testable import Gateway

@Suite(.timeLimit(.minutes(5))) struct PassingPartsTests {
    private let part = LivenessPart.plugin("radio")

    @Test func `a part is asked while it is there`() async throws {
        let passing = PassingParts()
        struct Failure: Error {}
        await #expect(throws: Failure.self) {
            try await passing.during(LivenessProbe(part) {}) {
                #expect(passing.probes.map(\.part) == [part])
                throw Failure()
            }
        }
        #expect(passing.probes.isEmpty)
    }

    @Test func `a part that several use is asked until the last of them has ended`() async {
        let passing = PassingParts()
        await passing.during(LivenessProbe(part) {}) {
            await passing.during(LivenessProbe(part) {}) { #expect(passing.probes.map(\.part) == [part]) }
            #expect(passing.probes.map(\.part) == [part])
        }
        #expect(passing.probes.isEmpty)
    }

    @Test func `a part that has to end is asked for its end only, and answers with the last of its ends`() async {
        let passing = PassingParts()
        let ends = [Promise<Void>(), Promise<Void>(), Promise<Void>()]
        await passing.during(LivenessProbe(part) {}) {
            for end in ends { passing.expect(part, toFulfil: end) }
            let probes = passing.probes
            #expect(probes.map(\.part) == [part])
            #expect(probes.first?.limit == LivenessPart.endLimit)
            let answer = Promise<Void>()
            await withDiscardingTaskGroup { group in
                group.addTask {
                    await probes.first?.ask()
                    answer.fulfil(())
                }
                ends[0].fulfil(())
                ends[2].fulfil(())
                for _ in 0..<100 { await Task.yield() }
                #expect(answer.value == nil)
                ends[1].fulfil(())
            }
            #expect(answer.value != nil)
            #expect(passing.probes.first?.limit == part.limit)
        }
        #expect(passing.probes.isEmpty)
    }

    @Test func `many ends of one part, asked or not, leave nothing behind`() async {
        let passing = PassingParts()
        await Storm.run("passing parts", rounds: Storm.rounds / 20) { number in
            let end = Promise<Void>()
            let part = LivenessPart.plugin("\(number % 3)")
            return [
                { passing.expect(part, toFulfil: end) }, { end.fulfil(()) },
                { await passing.during(LivenessProbe(part) {}) { await Task.yield() } },
                { for probe in passing.probes { await probe.ask() } },
            ]
        }
        #expect(passing.probes.isEmpty)
    }
}
