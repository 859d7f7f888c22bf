import GatewayKit
import Testing
import Vitals

/// Which of several sources counts an interval.
@Suite struct SourceOrderTests {
    @Test(
        arguments: [
            ("Anna's Apple Watch", .watch), ("Pixel Watch 3", .watch), ("Galaxy Watch6", .watch),
            ("smartwatch", .watch),
            ("Mi Band 8", .bandOrRing), ("Oura Ring", .bandOrRing), ("Galaxy Ring (phone)", .bandOrRing),
            ("Anna's iPhone", .phone), ("My husband's phone", .phone), ("Google Pixel 9", .phone), ("Phone", .phone),
            ("Springfield", .other), ("com.google.android.apps.fitness", .other), ("", .other), ("Pixelmator", .other),
        ] as [(String, SourceOrder.Kind)])
    func `knows what a source is by its name`(name: String, kind: SourceOrder.Kind) {
        #expect(SourceOrder.Kind(name: name) == kind)
    }

    @Test(
        arguments: [
            (nil, .watch), (0, .watch), (1, .watch), (2, .phone), (3, .other), (4, .bandOrRing), (5, .other),
            (6, .bandOrRing), (7, .other), (-1, .other),
        ] as [(Int64?, SourceOrder.Kind)])
    func `a type of device says more than a name`(type: Int64?, kind: SourceOrder.Kind) {
        #expect(SourceOrder.Kind(type: type, name: "Watch") == kind)
    }

    private func order(_ names: [String], in order: SourceOrder) -> [String] {
        names.map { order.origin(of: $0, SourceOrder.Kind(name: $0), otherNames: ["model \($0)"]) }
            .sorted { $0.precedes($1) }.map(\.name)
    }

    @Test func `sources follow by what they are, then by name, and those of the configuration come first`() {
        let names = ["Thing", "iPhone", "Band", "Watch B", "Ring", "Watch A", "Phone"]
        let byKind = ["Watch A", "Watch B", "Band", "Ring", "Phone", "iPhone", "Thing"]
        #expect(order(names, in: SourceOrder()) == byKind)
        #expect(order(names.reversed(), in: SourceOrder()) == byKind)
        #expect(
            order(names, in: SourceOrder(["Thing", "model iPhone", "absent"]))
                == ["Thing", "iPhone", "Watch A", "Watch B", "Band", "Ring", "Phone"])
        let last = SourceOrder().origin(of: "Thing", .other)
        #expect(last.precedes(SourceOrder.nameless) && !SourceOrder.nameless.precedes(last))
    }

    @Test func `a configuration orders twenty sources at most`() {
        func issues(_ count: Int) -> [String] {
            let names = (0..<count).map { ConfigurationValue(.scalar("watch \($0)", isQuoted: true)) }
            var reader = ConfigurationReader(
                ConfigurationValue(.map([(ConfigurationKey("sources"), ConfigurationValue(.list(names)))])))
            _ = SourceOrder(&reader)
            return reader.finish().map(\.message)
        }
        #expect(issues(SourceOrder.maximumNames) == [])
        #expect(issues(SourceOrder.maximumNames + 1) == ["At most 20 texts are taken here."])
    }

    /// The numbers of androidx, which are not those of Android's own list.
    @Test(
        arguments: [
            (0, "other"), (2, "badminton"), (8, "cycling"), (25, "elliptical"), (37, "hiking"), (54, "rowing_machine"),
            (56, "running"), (57, "treadmill"), (70, "strength"), (74, "swimming"), (79, "walking"), (83, "yoga"),
            (1, "type_1"), (84, "type_84"), (-1, "type_-1"),
        ] as [(Int64, String)])
    func `names the types of exercise by the numbers of the library`(type: Int64, name: String) {
        #expect(ExerciseType.name(ofLibrary: type) == name)
    }
}
