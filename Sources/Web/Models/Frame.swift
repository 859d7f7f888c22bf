// The models are what the templates are rendered from. Templates read their members by name, and a section of a text is rendered also where
// the text is empty: what may be missing is an optional, never "". A member that is `nil` is looked for in the models around it, so that no
// optional member shares its name with a member of a model that contains it. All text is for people, and is escaped by the template; `svg`
// members are drawings that the gateway wrote, with classes of the style sheet and without a text of others.

/// What every page has around its content.
struct Frame: Hashable, Sendable {
    /// The page's name, also in the title of the window.
    var title: String
    /// The gateway's name in topics.
    var gateway: String
    var version: String
    /// What style sheet and scripts are asked with: it changes with them.
    var assets: String
    /// What all links, forms and files are relative to, with a slash at both ends: `/`, or what Home Assistant's ingress puts before it.
    var base: String
    /// The page's own path below `base`, without a slash before it: for links to a part of the page, and to itself with another range.
    var path: String
    /// What each form must send as `csrf`.
    var token: String
    /// The main navigation; empty before a person has signed in.
    var places: [Tab]
    /// When the page was made: ages count from here.
    var made: Moment
    /// Whether there is a session that can be ended.
    var canSignOut: Bool
    /// Whether values on the page change: the script listens to `events` then.
    var isLive: Bool
    /// What came of the form that led here.
    var notice: Notice?
}

/// A link to one of several views, of which one is shown.
struct Tab: Hashable, Sendable {
    var name: String
    /// Relative to `Frame.base`.
    var link: String
    var isCurrent: Bool
    /// What waits there, such as a number of alerts.
    var badge: Mark?
}

/// How a word or a message is coloured; the word itself says the same.
enum Tone: String {
    case plain, good, warn, bad
}

/// A short word with a colour, such as "stale".
struct Mark: Hashable, Sendable {
    /// A `Tone`, which is a class of the style sheet.
    var tone: String
    var word: String

    init(_ word: String, _ tone: Tone = .plain) { (self.word, self.tone) = (word, tone.rawValue) }
}

/// A message of one or two sentences.
struct Notice: Hashable, Sendable {
    /// A `Tone`, which is a class of the style sheet.
    var tone: String
    var text: String
    /// Where to do something about it, relative to `Frame.base`.
    var target: String?

    init(_ text: String, _ tone: Tone = .plain, target: String? = nil) {
        (self.text, self.tone, self.target) = (text, tone.rawValue, target)
    }
}

/// A named value, such as today's steps.
struct Figure: Hashable, Sendable {
    var label: String
    var text: String
    var unit: String?
    /// What else there is to say, such as "of 3 workouts".
    var remark: String?
}

/// Something with its condition, such as a part of the gateway or a finding.
struct Row: Hashable, Sendable {
    var label: String
    var mark: Mark
    var text: String
}

/// One of the options of a choice.
struct Choice: Hashable, Sendable {
    /// What the form sends.
    var value: String
    var name: String
    var isChosen: Bool
}

/// A field that a form sends without showing it.
struct HiddenField: Hashable, Sendable {
    var name: String
    var value: String
}
