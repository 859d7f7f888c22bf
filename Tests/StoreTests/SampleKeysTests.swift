import Testing
import Vitals

@testable import Store

@Suite struct SampleKeysTests {
    @Test func `gives keys back in any order and of any length`() throws {
        var manual = beat(-100_000_000)
        manual.isUserInitiated = true
        var beside = beat(5, lasting: 604_800)
        beside.isUserInitiated = true
        beside.origin = SampleOrigin(place: 1, name: "iPhone")
        beside.origin?.isBeside = true
        let samples = [beat(5), beat(5, lasting: 604_800), beside, manual, beat(0), beat(2_000_000_000)].map(stored)
        #expect(try SampleKeys.unpack(SampleKeys.pack(samples)) == samples.map { SampleKey($0.sample) })
        #expect(try SampleKeys.unpack([]) == [])
    }

    @Test func `takes four bytes for a sample every few seconds`() {
        #expect(SampleKeys.pack((0..<200).map { stored(beat($0 * 5)) }).count < 200 * 4 + 8)
    }

    @Test(arguments: [[0x80], [0x01], [0x01, 0xFF], Array(repeating: 0xFF, count: 40)] as [[UInt8]])
    func `says that bytes are damaged`(bytes: [UInt8]) {
        #expect(throws: StoreError.self) { try SampleKeys.unpack(bytes) }
    }

    private func stored(_ sample: Sample) -> StoredSample {
        StoredSample(sample: sample, id: SampleID(high: 0, low: 0), revision: 1, receivedAt: dawn)
    }
}
