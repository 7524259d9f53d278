"""Pages of people and clients. `-` stands where no slug can."""

from django.urls import path

from reliability.views import clients, consultancy

urlpatterns = [
    path("-/people/", consultancy.people_list, name="people"),
    path("-/people/<int:user_id>/", consultancy.person_change, name="person-change"),
    path(
        "-/people/invitations/<uuid:invitation_id>/revoke/",
        consultancy.colleague_invitation_revoke,
        name="colleague-invitation-revoke",
    ),
    path("-/invitations/<str:secret>/", consultancy.invitation_accept, name="invitation-accept"),
    path("-/help/", consultancy.site_help, name="help"),
    path("-/clients/new/", clients.client_create, name="client-create"),
    path("<slug:client>/-/settings/", clients.client_change, name="client-change"),
    path("<slug:client>/-/members/", clients.member_list, name="member-list"),
    path("<slug:client>/-/members/<int:member_id>/", clients.member_change, name="member-change"),
    path("<slug:client>/-/consultants/assign/", clients.consultant_assign, name="consultant-assign"),
    path(
        "<slug:client>/-/consultants/<int:assignment_id>/unassign/",
        clients.consultant_unassign,
        name="consultant-unassign",
    ),
    path(
        "<slug:client>/-/invitations/<uuid:invitation_id>/revoke/",
        clients.invitation_revoke,
        name="invitation-revoke",
    ),
    path("<slug:client>/-/tokens/", clients.token_list, name="token-list"),
    path("<slug:client>/-/tokens/<uuid:token_id>/revoke/", clients.token_revoke, name="token-revoke"),
    path("<slug:client>/-/audit/", clients.audit_list, name="audit-list"),
]
