import Contract
import HomeAssistant
import MQTT
import Testing
import Vitals

@Suite struct UniqueIDTests {
    /// Adds devices, and returns the pairs that collide.
    private func pairs(_ names: [String]) -> [String] {
        var ids = UniqueIDs()
        return names.compactMap { name in ids.add(Devices.id(name)).map { "\(name) \($0)" } }
    }

    @Test(arguments: [
        ["band", "band_resting"],  // resting_heart_rate and heart_rate
        ["band", "band_skin"],  // skin_temperature and temperature
        ["band", "band_last"],  // last_sleep and sleep
        ["ring", "ring_measure"],  // measure_temperature and temperature
        ["a_b", "a_b_measure_resting"],  // measure_resting_heart_rate and heart_rate
    ]) func `finds two devices of which entities would have the same unique id, in any order`(names: [String]) {
        #expect(pairs(names) == ["\(names[1]) \(names[0])"])
        #expect(pairs(names.reversed()) == ["\(names[0]) \(names[1])"])
    }

    @Test(arguments: [
        ["band", "band-resting"], ["band", "band_2"], ["band", "bandresting"], ["band", "resting"],
        ["band", "band_alert"], ["band_resting", "band_measure"], ["_", "__"],
    ]) func `lets all others be`(names: [String]) {
        #expect(pairs(names) == [])
    }

    @Test func `compares each with each`() {
        #expect(pairs(["x", "band_2", "band_measure", "band_resting", "band"]) == ["band band_measure"])
        #expect(pairs(["band", "x", "band_2", "band_resting"]) == ["band_resting band"])
    }

    @Test func `what it finds is true of what is announced`() throws {
        func ids(of name: String) throws -> Set<String> {
            var device = Devices.band
            device.info.id = Devices.id(name)
            let topics = Devices.discovery(.component).messages(for: device).map(\.payload)
            return Set(try topics.map { try Announced.uniqueID(of: $0) })
        }
        #expect(try !ids(of: "band").isDisjoint(with: ids(of: "band_resting")))
        #expect(try ids(of: "band").isDisjoint(with: ids(of: "band-resting")))
        #expect(try ids(of: "band").isDisjoint(with: ids(of: "band_2")))
    }
}
