/// Adding a device: a way to it, and then its entry. Exactly one of the sections is shown.
struct AddPage: Hashable, Sendable {
    var frame: Frame
    var ways: [Tab]
    var near: NearSection?
    var exports: ExportsSection?
    var phone: PhoneSection?
    var simulator: SimulatorSection?
    var entry: EntrySection?
    var access: AccessSection?
}

/// What a scan has found.
struct NearSection: Hashable, Sendable {
    var isScanning: Bool
    /// When it ended; `nil` before the first one.
    var scanned: Moment?
    var found: [Candidate]
    /// Plugins that could not scan, and why.
    var problems: [String]
    /// "12 more without a driver"
    var others: String?
}

/// A device that advertises, or that an export has.
struct Candidate: Hashable, Sendable {
    /// What it calls itself, which a stranger may have chosen.
    var label: String
    /// The driver that claims it, and by what; `nil` if none does.
    var driver: String?
    /// "30:35:47:00:11:22, −61 dBm, near", "Fri 3 Jan to Sat 28 Nov: heart rate, sleep, steps"
    var about: String
    /// "Already here as ring-1", or what matters for the configuration.
    var remark: String?
    /// Whether a form leads to its entry, which sends these fields.
    var isAddable: Bool
    var fields: [HiddenField]
}

/// What is in the folder for exports of phones.
struct ExportsSection: Hashable, Sendable {
    /// The folder.
    var folder: String
    var files: [ExportFile]
    var problem: String?
}

/// A file of an export.
struct ExportFile: Hashable, Sendable {
    var label: String
    /// "Gadgetbridge, 2 devices, 3.1 MB, changed yesterday"
    var about: String
    /// The devices in it.
    var sources: [Candidate]
}

/// A phone that pushes, before it has an entry.
struct PhoneSection: Hashable, Sendable {
    /// The drivers: Health Auto Export, HC Webhook, the app that carries a band, an own script.
    var apps: [Choice]
    var form: IdentityForm
    /// What keeps a phone from reaching the gateway, such as a listener on loopback.
    var problem: String?
}

/// A simulated device.
struct SimulatorSection: Hashable, Sendable {
    var models: [Choice]
    var form: IdentityForm
}

/// What a person decides of every device.
struct IdentityForm: Hashable, Sendable {
    var name: String
    var id: String
    var person: String
    /// The persons that there are, to choose from.
    var people: [String]
}

/// The checked entry of a device.
struct EntrySection: Hashable, Sendable {
    var driver: String
    var form: IdentityForm
    /// What of the entry is not typed here: `driver`, and `transport` and `option` as `key=value`.
    var fields: [HiddenField]
    /// Whether it can be written.
    var isValid: Bool
    /// Errors and warnings, each with its path in the entry, such as `transport.address`.
    var issues: [Row]
    /// The entry as it is written, in YAML.
    var text: String
    /// The file.
    var file: String
    /// Whether the device asks for a passkey when it is first connected.
    var willPair: Bool
}

/// What a phone needs to push.
struct AccessSection: Hashable, Sendable {
    var deviceName: String
    var deviceLink: String
    /// The app's name, and what to do in it, in steps.
    var app: String
    var steps: [String]
    /// What the app is given: address, then header or device, token.
    var figures: [Figure]
    /// The same as a QR code, an SVG of squares.
    var svg: String
    /// Where it is seen that something has come.
    var arrival: Notice
}

/// A person says the password.
struct SignInPage: Hashable, Sendable {
    var frame: Frame
    /// Where to go then, below `Frame.base`; `nil` for the overview.
    var next: String?
    /// Why not: a wrong password, or too many guesses.
    var problem: String?
}

/// What is shown instead of a page.
struct ErrorPage: Hashable, Sendable {
    var frame: Frame
    /// The status of HTTP.
    var status: Int
    /// What happened.
    var text: String
    /// What to do, in steps.
    var advice: [String]
    /// Where to go.
    var way: Tab
}
