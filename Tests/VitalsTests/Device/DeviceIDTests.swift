import Testing
import Vitals

@Suite struct DeviceIDTests {
    @Test(arguments: ["a", "band-1", "ring_2", "0", "-", "gateway-1", String(repeating: "z", count: 64)])
    func `takes small letters, digits, underscore and hyphen`(text: String) {
        #expect(DeviceID(text)?.text == text)
        #expect(DeviceID(text)?.description == text)
    }

    @Test(arguments: [
        "", "Band", "band 1", "band/1", "band+", "#", "bänd", "band.1", "gateway", String(repeating: "z", count: 65),
        "\u{661}",
    ])
    func `refuses what does not belong into a topic, and the gateway's own place`(text: String) {
        #expect(DeviceID(text) == nil)
    }

    @Test func `orders by text`() throws {
        let ids = try ["b", "a-2", "a-10"].map { try #require(DeviceID($0)) }
        #expect(ids.sorted().map(\.text) == ["a-10", "a-2", "b"])
    }
}
