import Testing

@testable import Gateway

@Suite struct StoreToolTests {
    @Test(arguments: [
        (1, 0, "1 sample, 0 daily summaries"), (0, 1, "0 samples, 1 daily summary"),
        (2, 3, "2 samples, 3 daily summaries"),
    ]) func `says how many samples and summaries there are`(samples: Int, days: Int, text: String) {
        #expect(StoreTool.counts(samples: samples, days: days) == text)
    }
}
