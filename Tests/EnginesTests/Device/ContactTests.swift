import Engines
import Testing
import Vitals

@Suite struct ContactTests {
    private static func contact(seen minute: Int?) -> Contact {
        Contact(lastSeen: minute.map(Fixture.minute), offlineAfter: .minutes(60))
    }

    @Test(arguments: [(nil, false), (0, true), (-59, true), (-60, false), (-600, false)] as [(Int?, Bool)])
    func `is online for as long as the device was not silent for too long`(seen: Int?, isOnline: Bool) {
        var contact = Self.contact(seen: seen)
        #expect(contact.updateAvailability(at: Fixture.noon) == isOnline)
        #expect(contact.isOnline == isOnline)
        #expect(contact.updateAvailability(at: Fixture.noon) == false)
    }

    @Test func `a clock that was set back does not keep the device online for longer`() {
        var contact = Self.contact(seen: 600)
        _ = contact.updateAvailability(at: Fixture.noon)
        #expect(contact.isOnline)
        #expect(contact.updateAvailability(at: Fixture.minute(60)) == true)
        #expect(!contact.isOnline)
    }

    @Test func `a sign of life is stored now and then, and at the end of a session`() {
        var contact = Self.contact(seen: 0)
        #expect(contact.takeUnsaved(isFinal: true) == nil)
        contact.markSeen(at: Fixture.minute(4), uptime: .minutes(4))
        #expect(contact.takeUnsaved(isFinal: false) == nil)
        #expect(contact.takeUnsaved(isFinal: true) == Fixture.minute(4))
        contact.markSeen(at: Fixture.minute(9), uptime: .minutes(9))
        #expect(contact.takeUnsaved(isFinal: false) == Fixture.minute(9))
        #expect(contact.takeUnsaved(isFinal: true) == nil)
    }

    @Test func `a sign of life by a clock that was set back is stored`() {
        var contact = Self.contact(seen: 0)
        contact.markSeen(at: Fixture.minute(-30), uptime: .minutes(1))
        #expect(contact.takeUnsaved(isFinal: false) == Fixture.minute(-30))
    }
}
