import Testing
import Vitals

@Suite struct TimeOfDayTests {
    @Test(arguments: [
        ("00:00", 0), ("08:00", 480), ("23:59", 1439), ("24:00", 1440), ("08:05:59", 485), ("24:00:00", 1440),
    ])
    func `is read from hours and minutes`(text: String, minutes: Int) {
        #expect(TimeOfDay(text)?.minutes == minutes)
    }

    @Test func `takes midnight as the end of the day where an end is meant`() {
        #expect(TimeOfDay("00:00", asEnd: true)?.minutes == 1440)
        #expect(TimeOfDay("00:00:00", asEnd: true)?.minutes == 1440)
        #expect(TimeOfDay("00:01", asEnd: true)?.minutes == 1)
        #expect(TimeOfDay("24:00", asEnd: true)?.minutes == 1440)
    }

    @Test(arguments: [
        "", "8:00", "08", "08:", "08:0", "08:60", "24:01", "24:00:01", "25:00", "08:00:60", "08:00:0", "08:00Z",
        "-1:00",
        " 08:00", "08:00 ",
    ])
    func `is not read from another text`(text: String) {
        #expect(TimeOfDay(text) == nil)
    }

    @Test func `goes to its text and back`() {
        for minutes in 0...1440 {
            let time = TimeOfDay(minutes: minutes)
            #expect(time?.minutes == minutes)
            #expect(time.flatMap { TimeOfDay($0.description) } == time)
        }
        #expect(TimeOfDay(minutes: 485)?.description == "08:05")
        #expect(TimeOfDay(minutes: 1440)?.description == "24:00")
        #expect(TimeOfDay(minutes: -1) == nil)
        #expect(TimeOfDay(minutes: 1441) == nil)
    }
}
