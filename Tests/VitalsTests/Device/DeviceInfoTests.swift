import Testing
import Vitals

@Suite struct DeviceInfoTests {
    @Test(
        arguments: [
            // slot, people, who
            (nil, [:], "carla"), (nil, [1: "anna"], "carla"), (1, [1: "anna"], "anna"), (2, [1: "anna"], nil),
            (1, [:], nil), (0, [0: "ben"], "ben"),
        ] as [(Int?, [Int: String], String?)])
    func `a slot is its person's, and nobody's where it has none`(slot: Int?, people: [Int: String], who: String?)
        throws
    {
        let id = try #require(DeviceID("cuff"))
        #expect(
            DeviceInfo(id: id, name: "Cuff", person: "carla", people: people, driver: "x").person(user: slot) == who)
    }
}
