import Synchronization
import Vitals

/// The sessions of browsers, in memory: each a random text in a cookie, and another one that its forms have to send.
///
/// A session proves that forms come from our own pages. It also says who has signed in, where that is needed. After a sign-in it is
/// another one, so that nobody can hand a session to somebody else before it.
final class PageSessions: Sendable {
    /// Whose a session is.
    enum Owner: Sendable, Hashable {
        /// Nobody has signed in.
        case guest
        /// Somebody knows the password with this hash. With another password the session ends.
        case password(PasswordHash)
        /// A user of Home Assistant, by its id there.
        case user(String)
    }

    /// A session.
    struct Session: Sendable, Hashable {
        let id: String
        /// What each form sends.
        let token: String
        let owner: Owner
        fileprivate(set) var begun: Duration
        fileprivate var used: Duration
        fileprivate var notice: Notice?
    }

    /// The most sessions of people who have signed in: a family with all of its browsers.
    static let maximum = 128
    /// The most sessions of guests: each request without a cookie makes one, unless another site's page loads it, and displaces the one that was used longest ago.
    static let maximumGuests = 512
    /// After this time without a request a session ends.
    static let idle: Duration = .hours(24)
    /// A session ends after this time in any case.
    static let lifetime: Duration = .days(14)

    private let sessions = Mutex<[String: Session]>([:])

    /// The session of a cookie; `nil` if it has ended, or is somebody else's.
    func session(_ id: String, of owner: Owner, at uptime: Duration) -> Session? {
        sessions.withLock { sessions in
            guard var session = sessions[id], session.owner == owner else { return nil }
            guard uptime - session.used < Self.idle, uptime - session.begun < Self.lifetime else {
                sessions[id] = nil
                return nil
            }
            session.used = uptime
            sessions[id] = session
            return session
        }
    }

    /// Whether a session goes on, without using it.
    func isOpen(_ id: String, at uptime: Duration) -> Bool {
        sessions.withLock { sessions in
            guard let session = sessions[id] else { return false }
            return uptime - session.used < Self.idle && uptime - session.begun < Self.lifetime
        }
    }

    /// A session that is kept nowhere: its token opens nothing.
    static func passing(_ owner: Owner, at uptime: Duration) -> Session {
        Session(id: random(), token: random(), owner: owner, begun: uptime, used: uptime, notice: nil)
    }

    /// Begins a session.
    func begin(_ owner: Owner, at uptime: Duration) -> Session {
        let session = Self.passing(owner, at: uptime)
        sessions.withLock { sessions in
            sessions[session.id] = session
            // Guests displace only guests.
            let isGuest = owner == .guest
            let others = sessions.values.filter { ($0.owner == .guest) == isGuest }
            guard others.count > (isGuest ? Self.maximumGuests : Self.maximum) else { return }
            if let oldest = others.min(by: { $0.used < $1.used }) { sessions[oldest.id] = nil }
        }
        return session
    }

    /// Ends a session.
    func end(_ id: String) { sessions.withLock { $0[id] = nil } }

    /// Keeps what came of a form for the next page of the session.
    func leave(_ notice: Notice, in id: String) {
        sessions.withLock { sessions in
            guard var session = sessions[id] else { return }
            session.notice = notice
            sessions[id] = session
        }
    }

    /// What came of the form before; once.
    func takeNotice(of id: String) -> Notice? {
        sessions.withLock { sessions in
            guard var session = sessions[id], let notice = session.notice else { return nil }
            session.notice = nil
            sessions[id] = session
            return notice
        }
    }

    /// The number of sessions.
    var count: Int { sessions.withLock { $0.count } }

    /// 256 random bits.
    static func random() -> String {
        var generator = SystemRandomNumberGenerator()
        let bytes = (0..<32).map { _ in UInt8.random(in: .min ... .max, using: &generator) }
        return Hexadecimal.text(bytes)
    }
}
