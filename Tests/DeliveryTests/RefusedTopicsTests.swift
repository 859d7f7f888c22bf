import Delivery
import Testing
import Vitals

@Suite struct RefusedTopicsTests {
    @Test func `a topic is tried again after a while, and after twice the time if that fails, up to a day`() {
        var topics = RefusedTopics()
        var (uptime, wait) = (Duration.seconds(7), RefusedTopics.firstWait)
        for _ in 0..<20 {
            topics.blame("a", size: 100, at: uptime)
            #expect(topics.contains("a", size: 100, at: uptime + wait - .seconds(1)))
            #expect(!topics.contains("a", size: 100, at: uptime + wait))
            let due = [wait - .seconds(1), wait, wait].map { topics.takeDue(at: uptime + $0) }
            #expect(due == [false, true, false])
            uptime += wait
            wait = min(wait * 2, RefusedTopics.maximumWait)
        }
        #expect(wait == .hours(24))
    }

    @Test func `shorter messages are sent, and a message that is taken clears its topic`() {
        var topics = RefusedTopics()
        topics.blame("a", size: 100, at: .zero)
        #expect(!topics.contains("a", size: 99, at: .zero))
        topics.taken("a", size: 99)
        #expect(topics.contains("a", size: 100, at: .zero))
        topics.taken("a", size: 100)
        #expect(!topics.contains("a", size: 100, at: .zero))
        topics.blame("a", size: 200, at: .zero)
        topics.blame("a", size: 150, at: .zero)
        #expect(topics.contains("a", size: 150, at: .zero))
        #expect(!topics.contains("b", size: 150, at: .zero))
    }

    @Test
    func `after long messages of two topics none as long is sent on any topic, until one is taken or tried again`() {
        var topics = RefusedTopics()
        topics.blame("a", size: 9_000, at: .zero)
        #expect(!topics.contains("b", size: 9_000, at: .zero))
        topics.blame("b", size: 8_000, at: .zero)
        #expect(topics.contains("c", size: 8_000, at: .zero))
        #expect(!topics.contains("c", size: 7_999, at: .zero))
        #expect(!topics.contains("c", size: 8_000, at: RefusedTopics.firstWait))
        topics.taken("c", size: 8_000)
        #expect(!topics.contains("d", size: 8_000, at: .zero))
        #expect(topics.contains("a", size: 9_000, at: .zero))
        // Every broker takes short messages: their length is not the reason.
        var short = RefusedTopics()
        short.blame("a", size: 4_096, at: .zero)
        short.blame("b", size: 4_096, at: .zero)
        #expect(!short.contains("c", size: 4_096, at: .zero))
    }

    @Test func `beyond so many topics all are tried again`() {
        var topics = RefusedTopics()
        for number in 0..<RefusedTopics.maximumTopics { topics.blame("\(number)", size: 1, at: .zero) }
        #expect(topics.contains("0", size: 1, at: .zero))
        topics.blame("new", size: 1, at: .zero)
        #expect(!topics.contains("0", size: 1, at: .zero))
        #expect(topics.contains("new", size: 1, at: .zero))
    }
}
