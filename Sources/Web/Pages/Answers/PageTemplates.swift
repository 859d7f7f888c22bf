import Mustache

/// A model with its members by name. swift-mustache finds a member by reflection on each model around it, each time: a page of fifty devices
/// took a fifth of a second.
private final class ShownModel: MustacheParent, CustomStringConvertible {
    private let members: [String: Any]
    private let model: Any

    private init(_ model: Any, _ mirror: Mirror) {
        self.model = model
        members = mirror.children.reduce(into: [:]) { members, child in
            guard let label = child.label else { return }
            members[label] = Self.content(of: child.value)
        }
    }

    func child(named name: String) -> Any? { members[name] }

    var description: String { String(describing: model) }

    /// A value as templates see it: a model with its members, a list of such; `nil` for an optional without a value.
    static func content(of value: Any) -> Any? {
        if value is String { return value }
        let mirror = Mirror(reflecting: value)
        switch mirror.displayStyle {
        case .struct?, .class?: return ShownModel(value, mirror)
        case .collection?: return mirror.children.compactMap { content(of: $0.value) }
        case .optional?: return mirror.children.first.flatMap { content(of: $0.value) }
        default: return value
        }
    }
}

/// The templates of the pages. They are part of the program, and parsed once.
struct PageTemplates: Sendable {
    /// A template that does not parse.
    struct Mistake: Error, CustomStringConvertible {
        /// The template, and what is wrong where.
        let description: String
    }

    /// The templates of the program; `nil` if one of them does not parse, which a test excludes.
    static let current = try? PageTemplates(sources)

    private let library: MustacheLibrary

    /// Parses templates, by their names.
    init(_ sources: [String: [UInt8]]) throws(Mistake) {
        var templates: [String: MustacheTemplate] = [:]
        for (name, bytes) in sources {
            do { templates[name] = try MustacheTemplate(string: String(decoding: bytes, as: UTF8.self)) } catch {
                throw Mistake(description: "The template \(name) does not parse: \(error)")
            }
        }
        library = MustacheLibrary(templates: templates)
    }

    /// What a template makes of a model; empty if there is no such template.
    func text(_ name: String, of model: any Sendable) -> String {
        library.render(ShownModel.content(of: model) ?? model, withTemplate: name) ?? ""
    }

    /// The files of `Templates`.
    static let sources: [String: [UInt8]] = [
        "access": PackageResources.access_mustache,
        "add": PackageResources.add_mustache,
        "alerts": PackageResources.alerts_mustache,
        "choose": PackageResources.choose_mustache,
        "concerns": PackageResources.concerns_mustache,
        "condition": PackageResources.condition_mustache,
        "device": PackageResources.device_mustache,
        "doctor": PackageResources.doctor_mustache,
        "entry": PackageResources.entry_mustache,
        "error": PackageResources.error_mustache,
        "foot": PackageResources.foot_mustache,
        "gateway": PackageResources.gateway_mustache,
        "head": PackageResources.head_mustache,
        "gatewaycondition": PackageResources.gatewaycondition_mustache,
        "history": PackageResources.history_mustache,
        "hypnogram": PackageResources.hypnogram_mustache,
        "identity": PackageResources.identity_mustache,
        "log": PackageResources.log_mustache,
        "loss": PackageResources.loss_mustache,
        "losses": PackageResources.losses_mustache,
        "measure": PackageResources.measure_mustache,
        "night": PackageResources.night_mustache,
        "nightpage": PackageResources.nightpage_mustache,
        "outbox": PackageResources.outbox_mustache,
        "overview": PackageResources.overview_mustache,
        "owners": PackageResources.owners_mustache,
        "pairing": PackageResources.pairing_mustache,
        "panel": PackageResources.panel_mustache,
        "parts": PackageResources.parts_mustache,
        "plot": PackageResources.plot_mustache,
        "range": PackageResources.range_mustache,
        "row": PackageResources.row_mustache,
        "scan": PackageResources.scan_mustache,
        "settings": PackageResources.settings_mustache,
        "signin": PackageResources.signin_mustache,
        "state": PackageResources.state_mustache,
        "status": PackageResources.status_mustache,
        "sums": PackageResources.sums_mustache,
        "sync": PackageResources.sync_mustache,
        "table": PackageResources.table_mustache,
        "tabs": PackageResources.tabs_mustache,
        "tile": PackageResources.tile_mustache,
        "whose": PackageResources.whose_mustache,
        "workout": PackageResources.workout_mustache,
    ]
}
