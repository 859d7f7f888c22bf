import Concurrency
import Synchronization
import Vitals

/// A part of a page that is sent when it changes.
struct LivePart: Sendable {
    /// What the page calls it: `data-live`.
    let key: String
    let template: String
    let model: any Hashable & Sendable

    init(_ key: String, _ template: String, _ model: any Hashable & Sendable) {
        self.key = key
        self.template = template
        self.model = model
    }
}

/// The parts of pages that somebody looks at. Each is rendered once for all who see the same, and again when it shows something else.
final class LivePages: Sendable {
    /// A page, and what its visitor may see.
    struct Key: Sendable, Hashable {
        var place: PagePlace
        var rights: PageRights
    }

    /// What a page has now.
    struct Content: Sendable {
        /// The devices: others mean another page.
        var devices: [DeviceID]
        var parts: [LivePart]
    }

    /// A part as it was rendered.
    struct Rendered: Sendable {
        fileprivate let model: any Hashable & Sendable
        let key: String
        let html: String
        /// When it was another one.
        let changedAt: Timestamp
    }

    /// The parts of a page at a time.
    struct Edition: Sendable {
        /// How much had changed in the gateway.
        fileprivate var changes: Int
        fileprivate var used: Duration
        let devices: [DeviceID]
        let parts: [Rendered]
        let madeAt: Timestamp
    }

    /// The most pages that are remembered: one that is forgotten is only rendered again.
    static let maximum = 64

    private let editions = Mutex<[Key: Edition]>([:])
    private let rendering = AsyncMutex()

    /// The newest edition of a page, which is made if the gateway has changed since the last one.
    func edition(
        of key: Key, changes: Int, at now: Timestamp, _ uptime: Duration, _ make: @Sendable () async -> Content
    ) async -> Edition {
        await rendering.withLock { () async -> Edition in
            let last = edition(of: key, usedAt: uptime)
            if let last, last.changes == changes { return last }
            let content = await make()
            let old = Dictionary((last?.parts ?? []).map { ($0.key, $0) }, uniquingKeysWith: { first, _ in first })
            let parts = content.parts.map { part in
                if let old = old[part.key], AnyHashable(old.model) == AnyHashable(part.model) { return old }
                let html = PageTemplates.current?.text(part.template, of: part.model) ?? ""
                return Rendered(model: part.model, key: part.key, html: html, changedAt: now)
            }
            let edition = Edition(
                changes: changes, used: uptime, devices: content.devices, parts: parts, madeAt: now)
            store(edition, of: key)
            return edition
        }
    }

    /// Forgets all pages, when nobody looks at any.
    func forget() { editions.withLock { $0 = [:] } }

    // Their locks must not be inlined where a wait lies between them: Decision 165.
    @inline(never)
    private func edition(of key: Key, usedAt uptime: Duration) -> Edition? {
        editions.withLock { editions in
            guard var edition = editions[key] else { return nil }
            edition.used = uptime
            editions[key] = edition
            return edition
        }
    }

    @inline(never)
    private func store(_ edition: Edition, of key: Key) {
        editions.withLock { editions in
            editions[key] = edition
            guard editions.count > Self.maximum else { return }
            if let oldest = editions.min(by: { $0.value.used < $1.value.used })?.key { editions[oldest] = nil }
        }
    }
}
