/// Something that a program may use only when it is allowed to: a camera, a location, a paid plan, a service that one
/// signs in to.
///
/// Baton knows no such thing itself; this is the seam for your own.
///
/// ```swift
/// struct Location: Capability {
///     let name = "location"
///     func status() async -> CapabilityStatus { await service.isAllowed ? .authorized : .notDetermined }
///     func requestAuthorization() async throws { try await service.askUser() }
/// }
/// map.addCondition(.authorized(for: Location()))
/// ```
public protocol Capability: Sendable {
    /// What errors call it. Requests for capabilities of one name are made one at a time.
    var name: String { get }

    /// Whether it may be used now. Asks nobody.
    func status() async -> CapabilityStatus

    /// Asks for the permission, and returns when there is an answer, whatever it is.
    func requestAuthorization() async throws
}

/// Whether a capability may be used.
public enum CapabilityStatus: Sendable, Hashable, CustomStringConvertible {
    /// Nobody has been asked yet.
    case notDetermined
    /// It may.
    case authorized
    /// Somebody was asked, and said no.
    case denied
    /// There is no such thing here, or nobody here may allow it.
    case unavailable

    /// As the end of a sentence that begins with the capability's name and "is".
    public var description: String {
        switch self {
        case .notDetermined: "not determined"
        case .authorized: "authorized"
        case .denied: "denied"
        case .unavailable: "unavailable"
        }
    }
}

/// Asks for the permission to use a capability, if nobody has been asked yet. The output is the status then.
public struct Authorize<Requested: Capability>: Procedure {
    /// What is asked for.
    public let capability: Requested

    /// Plans to ask for it.
    public init(_ capability: Requested) { self.capability = capability }

    /// Fails with what ``Capability/requestAuthorization()`` throws.
    public func execute(in context: OperationContext) async throws -> CapabilityStatus {
        let capability = capability
        let status = try await onOwnTask { await capability.status() }
        guard status == .notDetermined else { return status }
        try await onOwnTask { try await capability.requestAuthorization() }
        return await capability.status()
    }
}

/// Satisfied if a capability may be used. See ``OperationCondition/authorized(for:)``.
public struct AuthorizedCondition<Required: Capability>: OperationCondition {
    let capability: Required

    /// "authorized for", and the capability's name.
    public var name: String { "authorized for \(capability.name)" }

    /// Asks for the permission, after all others that ask for the same.
    public func dependency(for operation: AnyOperation) -> AnyOperation? {
        let request = AsyncOperation(Authorize(capability))
        request.name = "authorize \(capability.name)"
        return request.addCondition(.mutuallyExclusive("Baton.Authorize \(capability.name)"))
    }

    /// Throws the error of the request, or ``ConditionError/notAuthorized(_:_:)``.
    public func evaluate(for operation: AnyOperation) async throws -> ConditionResult {
        let status = await capability.status()
        if status == .authorized { return .satisfied }
        throw ConditionError.notAuthorized(capability.name, status)
    }
}

extension OperationCondition {
    /// Satisfied if the capability may be used. If nobody has been asked yet, asks first, in an operation of its own:
    /// never two at a time, so that the second finds the answer of the first.
    ///
    /// With ``silent`` it only looks.
    public static func authorized<Required: Capability>(for capability: Required) -> Self
    where Self == AuthorizedCondition<Required> {
        AuthorizedCondition(capability: capability)
    }
}
